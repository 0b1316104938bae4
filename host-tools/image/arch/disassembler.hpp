// SPDX-License-Identifier: Apache-2.0
// Turns instructions into text with LLVM's disassembler.
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

    // Returns "ldr\tx0, [x1, #8]". An operand relative to the instruction's address becomes
    // absolute: "bl\t0x40080120". A word that is no instruction gives ".inst\t0x...".
    std::string text(std::uint64_t address, std::uint32_t word) const;

private:
    void* context_;  // LLVM's
};

// Returns the address that a branch of any kind, ADR, ADRP or a literal load refers to.
std::optional<std::uint64_t> pc_relative_target(std::uint64_t address, std::uint32_t word);

}  // namespace nopscope::host
