// SPDX-License-Identifier: Apache-2.0
// A model of how a core predicts returns: a stack of return addresses, in three sizes at once.
//
//   BL, BLR      pushes the address behind it. A full stack overwrites its oldest entry.
//   RET          pops, whatever its register. An empty stack predicts nothing.
//   exceptions   neither they nor ERET change the stack: an assumption, as are all three.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nopscope::host::returns {

inline constexpr std::array<unsigned, 3> depths = {8, 16, 31};
// A bit for each of `depths`: where the prediction was wrong.
using Missed = unsigned;

class ReturnStack {
public:
    explicit ReturnStack(unsigned depth) : entries_(depth) {}

    void push(std::uint64_t address) {
        top_ = (top_ + 1) % entries_.size();
        entries_[top_] = address;
        if (used_ < entries_.size()) ++used_;
    }
    // Did it hold `target`?
    bool pop(std::uint64_t target) {
        if (used_ == 0) return false;
        const bool right = entries_[top_] == target;
        top_ = (top_ + entries_.size() - 1) % entries_.size();
        --used_;
        return right;
    }

private:
    std::vector<std::uint64_t> entries_;
    std::size_t top_ = 0, used_ = 0;
};

// Of one core.
class ReturnStacks {
public:
    void push(std::uint64_t address) {
        for (ReturnStack& stack : stacks_) stack.push(address);
    }
    Missed pop(std::uint64_t target) {
        Missed missed = 0;
        for (unsigned i = 0; i < depths.size(); ++i) missed |= (stacks_[i].pop(target) ? 0u : 1u) << i;
        return missed;
    }

private:
    std::array<ReturnStack, depths.size()> stacks_ = {ReturnStack(depths[0]), ReturnStack(depths[1]),
                                                      ReturnStack(depths[2])};
};

// Whose an indirect branch is.
enum Class : unsigned {
    own,       // a return that goes to a hook: of the function that is hooked
    hook,      // the hook's, to the function's caller
    unhooked,  // of a function that is not traced at the time
    traced,    // of one that is, and whose call has no hook
    tracer,    // any other of the tracer's
    classes
};
inline constexpr std::array<const char*, classes> class_names = {"own", "hook", "unhooked", "traced", "tracer"};

struct Counted {
    std::uint64_t executed = 0;
    std::array<std::uint64_t, depths.size()> missed{};
    void add(Missed which) {
        ++executed;
        for (unsigned i = 0; i < depths.size(); ++i) missed[i] += which >> i & 1;
    }
};

struct Step {
    std::uint64_t address;
    std::uint32_t word;
    Missed missed;
};

// What ran from one mark to the next.
struct Row {
    std::string name;
    std::uint64_t calls = 0;                  // that a patch site's BL was executed for
    std::array<Counted, classes> returns{};   // RET
    std::array<Counted, classes> branches{};  // BR
    std::uint64_t heads = 0;
    std::vector<Step> path;
};

// DDI 0487, C4.1.66, unconditional branch (register): bit 24 says that there is a modifier for PAC.
enum class Branch : std::uint8_t { none, call, jump, ret };
constexpr Branch branch_of(std::uint32_t word) {
    if (word >> 26 == 0x25) return Branch::call;  // BL
    if ((word & 0xfe1f0000) != 0xd61f0000) return Branch::none;
    switch (word >> 21 & 0xf) {
        case 0: case 8: return Branch::jump;  // BR, BRAA, BRAAZ
        case 1: case 9: return Branch::call;  // BLR, BLRAA, BLRAAZ
        case 2: return Branch::ret;           // RET, RETAA
        default: return Branch::none;         // ERET, DRPS
    }
}
// RETAA has x30; a pointer with a PAC has it above the 48 bits of an address.
constexpr bool has_pac(std::uint32_t word) { return (word & 0x800) != 0; }
constexpr unsigned register_of(std::uint32_t word) {
    return branch_of(word) == Branch::ret && has_pac(word) ? 30 : word >> 5 & 31;
}

}  // namespace nopscope::host::returns
