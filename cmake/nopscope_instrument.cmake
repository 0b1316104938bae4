# SPDX-License-Identifier: Apache-2.0
# nopscope_instrument(TARGET): compiles a target's functions with patch sites. With
# -DNOPSCOPE_ENABLED=OFF, for a build that ships, it does nothing, and so do nopscope::tracer and
# nopscope_name_table() (SHIPPING.md).
#
# Another project can include this file alone. Call it for each target to trace. NOPSCOPE_NOTRACE
# marks functions that must never be traced (nopscope.hpp). The linker script must align text input
# sections to 8 (linker/sections.ld).
include_guard(GLOBAL)
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)

option(NOPSCOPE_ENABLED "build nopscope into the firmware; OFF: not a byte of it" ON)

# What follows is compiled, and need not link: no firmware's libraries are known here.
set(_nopscope_type "${CMAKE_TRY_COMPILE_TARGET_TYPE}")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
function(_nopscope_compiler_says condition result)
    check_c_source_compiles("#if !(${condition})\n#error\n#endif\nint nothing;" ${result})
endfunction()

# The architecture is the compiler's. The NOPs before a function fill eight bytes.
_nopscope_compiler_says("defined __riscv" NOPSCOPE_IS_RISCV)
if(NOPSCOPE_IS_RISCV)
    _nopscope_compiler_says("__riscv_xlen == 64" NOPSCOPE_IS_RV64)
    if(NOT NOPSCOPE_IS_RV64)
        message(FATAL_ERROR "nopscope knows RV64 and not RV32 (-march in CMAKE_C_FLAGS)")
    endif()
    set(NOPSCOPE_ARCH riscv64 CACHE INTERNAL "")
    _nopscope_compiler_says("defined __riscv_compressed" NOPSCOPE_HAS_SHORT_NOP)
    set(_nopscope_sites -fpatchable-function-entry=4,2)
    if(NOPSCOPE_HAS_SHORT_NOP)
        set(_nopscope_sites -fpatchable-function-entry=8,4)
    endif()
else()
    set(NOPSCOPE_ARCH arm64 CACHE INTERNAL "")
    set(_nopscope_sites -fpatchable-function-entry=4,2 -mbranch-protection=standard)
endif()
list(APPEND _nopscope_sites -ffunction-sections)
# clang aligns each function, and its callers count on no register that a call may change.
set(NOPSCOPE_CLANG_FLAGS ${_nopscope_sites} -falign-functions=8 CACHE INTERNAL "")

# GCC's -falign-functions leaves functions in .text.unlikely, and at -Os all functions, at 4 bytes.
# GCC 14 has an option that aligns all.
check_c_compiler_flag(-fmin-function-alignment=8 NOPSCOPE_HAS_MIN_FUNCTION_ALIGNMENT)
if(NOPSCOPE_HAS_MIN_FUNCTION_ALIGNMENT)
    set(_nopscope_alignment -fmin-function-alignment=8)
else()
    set(_nopscope_alignment -falign-functions=8)
endif()
set(CMAKE_TRY_COMPILE_TARGET_TYPE "${_nopscope_type}")

# Use the option, never the attribute: only the option disables -fipa-ra, and only for functions
# that the compiler knows to have sites. Hence -fno-ipa-ra, too.
set(NOPSCOPE_INSTRUMENT_FLAGS ${_nopscope_sites} -fno-ipa-ra ${_nopscope_alignment} CACHE INTERNAL "")
if(CMAKE_C_COMPILER_ID MATCHES Clang)
    set(NOPSCOPE_INSTRUMENT_FLAGS ${NOPSCOPE_CLANG_FLAGS} CACHE INTERNAL "")
endif()

function(nopscope_instrument target)
    if(NOT NOPSCOPE_ENABLED)
        return()
    endif()
    target_compile_options(${target} PRIVATE
        "$<$<COMPILE_LANGUAGE:C,CXX>:${NOPSCOPE_INSTRUMENT_FLAGS}>")
endfunction()
