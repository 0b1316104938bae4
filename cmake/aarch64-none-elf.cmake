# SPDX-License-Identifier: Apache-2.0
# Toolchain file for arm64 firmware. Uses the Arm GNU Toolchain (aarch64-none-elf-) if it is on PATH
# or in -DARM_GNU_TOOLCHAIN=DIR (the directory that has bin/). Else uses the distribution's
# aarch64-linux-gnu- GCC without its libc and libstdc++ (platform.cmake).
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(ARM_GNU_TOOLCHAIN "" CACHE PATH "Arm GNU Toolchain: the directory that has bin/")
set(_toolchain ARM_GNU_TOOLCHAIN)
set(_compilers aarch64-none-elf-gcc)
if(NOT ARM_GNU_TOOLCHAIN)
    list(APPEND _compilers aarch64-linux-gnu-gcc)
endif()
include("${CMAKE_CURRENT_LIST_DIR}/cross_gcc.cmake")
