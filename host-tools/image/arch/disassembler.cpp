// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/arch/disassembler.hpp"

#include <fmt/format.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include <array>

#include "host-tools/base/error.hpp"

namespace nopscope::host {

Disassembler::Disassembler(const Arch& arch) : arch_(arch) {
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64Disassembler();
    LLVMInitializeRISCVTargetInfo();
    LLVMInitializeRISCVTargetMC();
    LLVMInitializeRISCVDisassembler();
    context_ = LLVMCreateDisasmCPUFeatures(arch.llvm_triple, "", arch.llvm_features, nullptr, 0,
                                           nullptr, nullptr);
    if (context_ == nullptr) {
        throw Error(fmt::format(
            "the LLVM that this nopscope was built with has no disassembler for {}", arch.name));
    }
    LLVMSetDisasmOptions(context_, LLVMDisassembler_Option_PrintImmHex);
}

Disassembler::~Disassembler() { LLVMDisasmDispose(context_); }

std::string Disassembler::text(std::uint64_t address, std::uint32_t word, unsigned bytes) const {
    std::array<std::uint8_t, 4> code{};
    for (unsigned i = 0; i < bytes; ++i) code[i] = static_cast<std::uint8_t>(word >> (8 * i));
    std::array<char, 256> room{};
    if (LLVMDisasmInstruction(context_, code.data(), bytes, address, room.data(), room.size()) !=
        bytes) {
        return fmt::format(".inst\t{:#0{}x}", word, 2 + 2 * bytes);
    }
    std::string text = room.data();
    text.erase(0, text.find_first_not_of(" \t"));
    text.erase(text.find_last_not_of(" \t") + 1);
    if (const auto target = arch_.pc_relative_target(address, word)) {
        if (const auto last = text.find_last_of(" \t"); last != std::string::npos)
            text.replace(last + 1, text.npos, fmt::format("{:#x}", *target));
    }
    return text;
}

}  // namespace nopscope::host
