// SPDX-License-Identifier: Apache-2.0
// The hooks' frame description, with this architecture's register numbers (riscv-elf-psabi).
#define LR 1
#define SP 2
#include "tracer/arch/hook_frame.h"
