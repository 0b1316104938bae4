// SPDX-License-Identifier: Apache-2.0
// What one instruction word does, for readers of whole images.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "host-tools/image/elf_file.hpp"

namespace nopscope::host::arch {

// Where the CPU may go after an instruction, except to the next one. A `call` links and a `jump`
// does not. The indirect kinds have their target in a register. A return counts as `next`.
struct Flow {
    enum class Kind : std::uint8_t { next, call, jump, indirect_call, indirect_jump };
    Kind kind = Kind::next;
    std::uint64_t target = 0;  // of a call or a jump
};
Flow flow_of(std::uint64_t address, std::uint32_t word);

// Whether an indirect call may land on this word where the CPU enforces landing pads.
bool is_landing_pad(std::uint32_t word);
// Whether this word is the landing pad that the compiler puts before a patch site.
bool is_site_landing_pad(std::uint32_t word);

// Whether this word is the instruction that debuggers write for a breakpoint.
bool is_breakpoint(std::uint32_t word);

// Whether the function whose body begins here uses, before its first call or jump, a register as
// its caller left it that a traced call changes. It keeps the register for its caller, or has an
// argument there, or the register is reserved for a global variable. No usual function does.
bool takes_register_of_caller(const ElfFile& elf, std::uint64_t body);

// Finds the addresses that instructions compute. Pass it the words in ascending order. It tracks
// the registers in that order and ignores branches. So it also finds an address that one path
// begins and another completes, because compilers place these two paths in order.
class AddressScan {
public:
    explicit AddressScan(const ElfFile& elf) : elf_(elf) {}

    // Forgets the registers: another function begins.
    void forget() { pages_ = {}; }
    // The address that this instruction completes or loads; nothing for a call or branch.
    std::optional<std::uint64_t> step(std::uint64_t at, std::uint32_t word);

private:
    const ElfFile& elf_;
    std::array<std::optional<std::uint64_t>, 32> pages_{};  // upper parts, by register
};

}  // namespace nopscope::host::arch
