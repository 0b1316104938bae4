# SPDX-License-Identifier: Apache-2.0
# The HAL's sources for RISC-V.
target_sources(nopscope_hal PRIVATE
    riscv64/boot.S
    riscv64/boot.cpp
    riscv64/boot_report.cpp
    riscv64/calls.S
    riscv64/cores.cpp
    riscv64/exception_report.cpp
    riscv64/instructions.cpp
    riscv64/time.cpp
    riscv64/vectors.S
    drivers/clint_plic.cpp
    drivers/uart16550.cpp)
