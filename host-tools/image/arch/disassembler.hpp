// SPDX-License-Identifier: Apache-2.0
// Turns instructions into text with LLVM's disassembler.
#pragma once

#include <cstdint>
#include <string>

#include "host-tools/image/arch/arch.hpp"

namespace nopscope::host {

class Disassembler {
public:
    explicit Disassembler(const Arch& arch);
    ~Disassembler();
    Disassembler(const Disassembler&) = delete;
    Disassembler& operator=(const Disassembler&) = delete;

    // The first instruction of these bytes: "ldr\tx0, [x1, #8]". An operand relative to the
    // instruction's address becomes absolute: "bl\t0x40080120". A word that is no instruction gives
    // ".inst\t0x...".
    std::string text(std::uint64_t address, std::uint32_t word, unsigned bytes = 4) const;

private:
    const Arch& arch_;
    void* context_;  // LLVM's
};

}  // namespace nopscope::host
