# SPDX-License-Identifier: Apache-2.0
# Toolchain file for RISC-V firmware, RV64GC. Uses riscv64-unknown-elf- or riscv-none-elf- GCC, from
# PATH or from -DRISCV_GNU_TOOLCHAIN=DIR (the directory that has bin/). platform.cmake finds headers
# of libstdc++ for a compiler that comes without them, as the distribution's.
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(RISCV_GNU_TOOLCHAIN "" CACHE PATH "a RISC-V toolchain: the directory that has bin/")
set(_toolchain RISCV_GNU_TOOLCHAIN)
set(_compilers riscv64-unknown-elf-gcc riscv-none-elf-gcc)
include("${CMAKE_CURRENT_LIST_DIR}/cross_gcc.cmake")

# medany: code at any address, reached from near by. These options also choose the libgcc.
foreach(_language C CXX ASM)
    set(CMAKE_${_language}_FLAGS_INIT "-march=rv64gc -mabi=lp64d -mcmodel=medany")
endforeach()
