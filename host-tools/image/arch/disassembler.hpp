// SPDX-License-Identifier: Apache-2.0
// A64 instructions as text, by LLVM's disassembler.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nopscope::host {

class Disassembler {
public:
    Disassembler();
    ~Disassembler();
    Disassembler(const Disassembler&) = delete;
    Disassembler& operator=(const Disassembler&) = delete;

    // "ldr\tx0, [x1, #8]"; what is relative to the instruction's address is absolute:
    // "bl\t0x40080120". A word that is no instruction is ".inst\t0x...".
    std::string text(std::uint64_t address, std::uint32_t word) const;

private:
    void* context_;  // LLVM's
};

// Where a branch of any kind, ADR, ADRP or a load of a literal points.
std::optional<std::uint64_t> pc_relative_target(std::uint64_t address, std::uint32_t word);

}  // namespace nopscope::host
