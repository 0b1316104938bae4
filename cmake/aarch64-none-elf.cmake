# SPDX-License-Identifier: Apache-2.0
# Toolchain file for firmware. Uses the Arm GNU Toolchain (aarch64-none-elf-) if it is on PATH or in
# -DARM_GNU_TOOLCHAIN=DIR (the directory that has bin/). Else uses the distribution's
# aarch64-linux-gnu- GCC without its libc and libstdc++ (platform.cmake).
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ARM_GNU_TOOLCHAIN)

set(ARM_GNU_TOOLCHAIN "" CACHE PATH "Arm GNU Toolchain: the directory that has bin/")

if(ARM_GNU_TOOLCHAIN)
    find_program(NOPSCOPE_GCC aarch64-none-elf-gcc
                 PATHS "${ARM_GNU_TOOLCHAIN}/bin" NO_DEFAULT_PATH REQUIRED)
else()
    find_program(NOPSCOPE_GCC NAMES aarch64-none-elf-gcc aarch64-linux-gnu-gcc)
endif()
if(NOT NOPSCOPE_GCC)
    message(FATAL_ERROR "no aarch64-none-elf-gcc and no aarch64-linux-gnu-gcc: run ./dev setup")
endif()

string(REGEX REPLACE "gcc$" "" NOPSCOPE_CROSS "${NOPSCOPE_GCC}")
set(CMAKE_C_COMPILER "${NOPSCOPE_CROSS}gcc")
set(CMAKE_CXX_COMPILER "${NOPSCOPE_CROSS}g++")
set(CMAKE_ASM_COMPILER "${NOPSCOPE_CROSS}gcc")
set(CMAKE_AR "${NOPSCOPE_CROSS}ar" CACHE FILEPATH "")
set(CMAKE_RANLIB "${NOPSCOPE_CROSS}ranlib" CACHE FILEPATH "")
set(CMAKE_OBJCOPY "${NOPSCOPE_CROSS}objcopy" CACHE FILEPATH "")
set(CMAKE_OBJDUMP "${NOPSCOPE_CROSS}objdump" CACHE FILEPATH "")

set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
