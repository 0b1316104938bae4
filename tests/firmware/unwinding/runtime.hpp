// SPDX-License-Identifier: Apache-2.0
#pragma once

// Once, before the first exception: makes the image's frame descriptions known to libgcc.
void register_frames();

// In the first function of a stack: no function has called it, so an unwinding ends here.
#ifdef __riscv
#define UNWINDING_ENDS_HERE asm volatile(".cfi_undefined ra")
#else
#define UNWINDING_ENDS_HERE asm volatile(".cfi_undefined x30")
#endif
