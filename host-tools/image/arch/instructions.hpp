// SPDX-License-Identifier: Apache-2.0
// What one instruction word does, for readers of whole images.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "host-tools/image/elf_file.hpp"

namespace nopscope::host::arch {

// Where an instruction may go to, other than to the next one. `call` links and `jump` does not; the
// target of the indirect ones is in a register. A return is none of them.
struct Flow {
    enum class Kind : std::uint8_t { next, call, jump, indirect_call, indirect_jump };
    Kind kind = Kind::next;
    std::uint64_t target = 0;  // of a call or a jump
};
Flow flow_of(std::uint64_t address, std::uint32_t word);

// Whether an indirect call may land on this word where the CPU enforces landing pads.
bool is_landing_pad(std::uint32_t word);
// Whether it is the landing pad that the compiler puts before a patch site.
bool is_site_landing_pad(std::uint32_t word);

// Whether it is the instruction that debuggers put in for a breakpoint.
bool is_breakpoint(std::uint32_t word);

// Finds addresses that instructions make, word by word in ascending order. It follows the registers
// in a straight line, so a value made on one path and completed on another is seen when the
// compiler laid them out in order, which it does.
class AddressScan {
public:
    explicit AddressScan(const ElfFile& elf) : elf_(elf) {}

    // Another function begins.
    void forget() { pages_ = {}; }
    // The address that this instruction completes, or loads; calls and branches complete none.
    std::optional<std::uint64_t> step(std::uint64_t at, std::uint32_t word);

private:
    const ElfFile& elf_;
    std::array<std::optional<std::uint64_t>, 32> pages_{};  // upper parts, by register
};

}  // namespace nopscope::host::arch
