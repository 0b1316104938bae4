// SPDX-License-Identifier: Apache-2.0
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include "host-tools/image/arch/riscv64/riscv64.hpp"

namespace nopscope::host::riscv64 {

void* new_disassembler() {
    LLVMInitializeRISCVTargetInfo();
    LLVMInitializeRISCVTargetMC();
    LLVMInitializeRISCVDisassembler();
    // Whatever the image's attributes say: none of these extensions' instructions means another
    // thing without it.
    return LLVMCreateDisasmCPUFeatures("riscv64-unknown-elf", "",
                                       "+m,+a,+f,+d,+c,+zba,+zbb,+zbc,+zbs,+zfh,+v", nullptr, 0,
                                       nullptr, nullptr);
}

}  // namespace nopscope::host::riscv64
