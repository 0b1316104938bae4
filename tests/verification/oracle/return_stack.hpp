// SPDX-License-Identifier: Apache-2.0
// A model of how a core predicts returns: a stack of return addresses, in three sizes.
//
//   BL, BLR      pushes the address behind it. A full stack overwrites its oldest entry.
//   RET          pops, whatever its register. An empty stack predicts nothing.
//   exceptions   They and ERET do not change the stack. All three rules are assumptions.
#pragma once

#include "tests/verification/oracle/a64.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nopscope::host::returns {

inline constexpr std::array<unsigned, 3> depths = {8, 16, 31};
// A bit for each of `depths` that mispredicted.
using Missed = unsigned;

class ReturnStack {
public:
    explicit ReturnStack(unsigned depth) : entries_(depth) {}

    void push(std::uint64_t address) {
        top_ = (top_ + 1) % entries_.size();
        entries_[top_] = address;
        if (used_ < entries_.size()) ++used_;
    }
    // Returns whether it held `target`.
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

// The stacks of one core.
class ReturnStacks {
public:
    void push(std::uint64_t address) {
        for (ReturnStack& stack : stacks_) stack.push(address);
    }
    Missed pop(std::uint64_t target) {
        Missed missed = 0;
        for (unsigned i = 0; i < depths.size(); ++i)
            missed |= (stacks_[i].pop(target) ? 0u : 1u) << i;
        return missed;
    }

private:
    std::array<ReturnStack, depths.size()> stacks_ = {
        ReturnStack(depths[0]), ReturnStack(depths[1]), ReturnStack(depths[2])};
};

// The code that an indirect branch belongs to.
enum Class : unsigned {
    own,       // a hooked function's return, which goes to the hook
    hook,      // the hook's return to the function's caller
    unhooked,  // in a function that is not traced at the time
    traced,    // in a traced function whose call has no hook
    tracer,    // any other in the tracer
    classes
};
inline constexpr std::array<const char*, classes> class_names = {"own", "hook", "unhooked",
                                                                 "traced", "tracer"};

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

// The counts from one mark to the next.
struct Row {
    std::string name;
    std::uint64_t calls = 0;                  // executions of a patch site's BL
    std::array<Counted, classes> returns{};   // RET
    std::array<Counted, classes> branches{};  // BR
    std::uint64_t heads = 0;
    std::vector<Step> path;
};

// RETAA uses x30. A pointer with a PAC has it above the 48 address bits.
constexpr bool has_pac(std::uint32_t word) { return (word & 0x800) != 0; }
constexpr unsigned register_of(std::uint32_t word) {
    return a64::branch_of(word) == a64::Branch::ret && has_pac(word) ? 30 : word >> 5 & 31;
}

}  // namespace nopscope::host::returns
