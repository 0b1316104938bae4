// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/arch/disassembler.hpp"

#include <fmt/format.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include <array>

#include "host-tools/base/error.hpp"
#include "host-tools/image/arch/arm64/a64.hpp"

namespace nopscope::host {

Disassembler::Disassembler() {
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64Disassembler();
    // All features of the architecture. Any other instruction belongs to a separate extension.
    context_ = LLVMCreateDisasmCPUFeatures("aarch64-none-elf", "",
                                           "+v9.3a,+crypto,+sve2,+mte,+ssbs,+fullfp16,+rand",
                                           nullptr, 0, nullptr, nullptr);
    if (context_ == nullptr)
        throw Error("the LLVM that this nopscope was built with has no AArch64 disassembler");
    LLVMSetDisasmOptions(context_, LLVMDisassembler_Option_PrintImmHex);
}

Disassembler::~Disassembler() { LLVMDisasmDispose(context_); }

std::string Disassembler::text(std::uint64_t address, std::uint32_t word) const {
    std::array<std::uint8_t, 4> bytes{};
    for (unsigned i = 0; i < 4; ++i) bytes[i] = static_cast<std::uint8_t>(word >> (8 * i));
    std::array<char, 256> room{};
    if (LLVMDisasmInstruction(context_, bytes.data(), bytes.size(), address, room.data(),
                              room.size()) != bytes.size()) {
        return fmt::format(".inst\t{:#010x}", word);
    }
    std::string text = room.data();
    text.erase(0, text.find_first_not_of(" \t"));
    if (const auto target = pc_relative_target(address, word)) {
        if (const auto last = text.rfind('#'); last != std::string::npos)
            text.replace(last, text.npos, fmt::format("{:#x}", *target));
    }
    return text;
}

std::optional<std::uint64_t> pc_relative_target(std::uint64_t address, std::uint32_t word) {
    using namespace a64;
    if (is_b(word) || is_bl(word)) return address + branch26_offset(word);
    if (is_conditional_branch(word) || is_compare_branch(word) || is_any_literal_load(word))
        return address + literal_offset(word);
    if (is_test_branch(word)) return address + branch14_offset(word);
    if (is_adr(word)) return address + adr_immediate(word);
    if (is_adrp(word)) return (address & ~std::uint64_t{0xfff}) + (adr_immediate(word) << 12);
    return std::nullopt;
}

}  // namespace nopscope::host
