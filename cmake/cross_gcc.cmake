# SPDX-License-Identifier: Apache-2.0
# The common part of toolchain files for firmware. In: `_compilers`, GCC's names, the best first, and
# `_toolchain`, the name of the cache variable with the directory that has bin/, or empty.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ${_toolchain})

if(${_toolchain})
    find_program(NOPSCOPE_GCC NAMES ${_compilers} PATHS "${${_toolchain}}/bin" NO_DEFAULT_PATH REQUIRED)
else()
    find_program(NOPSCOPE_GCC NAMES ${_compilers})
endif()
if(NOT NOPSCOPE_GCC)
    list(JOIN _compilers " and no " _compilers)
    message(FATAL_ERROR "no ${_compilers}: run ./dev setup")
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
