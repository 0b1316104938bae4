// SPDX-License-Identifier: Apache-2.0
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include "host-tools/image/arch/arm64/arm64.hpp"

namespace nopscope::host::arm64 {

void* new_disassembler() {
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64Disassembler();
    // All features of the architecture. Any other instruction belongs to a separate extension.
    return LLVMCreateDisasmCPUFeatures("aarch64-none-elf", "",
                                       "+v9.3a,+crypto,+sve2,+mte,+ssbs,+fullfp16,+rand", nullptr,
                                       0, nullptr, nullptr);
}

}  // namespace nopscope::host::arm64
