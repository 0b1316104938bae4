# SPDX-License-Identifier: Apache-2.0
# The tracer's build for RISC-V, 64 bits, in M-mode: options, assembly and flags. Its register is tp.
set(NOPSCOPE_CLOCK time CACHE STRING "what times are counted in: time (rdtime), cycle (rdcycle), or the address of mtime")

# Adds RISC-V's sources and flags to the library `target`, which has those of all architectures.
function(nopscope_add_arch target)
    set(sources begin_catch.S calibration.S hook_frame.S longjmp.S recording.S)
    list(TRANSFORM sources PREPEND ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/)
    target_sources(${target} PRIVATE ${sources})
    target_compile_options(${target} PRIVATE -mcmodel=medany)
    if(NOPSCOPE_CLOCK STREQUAL "cycle")
        target_compile_definitions(${target} PUBLIC NOPSCOPE_CLOCK_CYCLE)
    elseif(NOPSCOPE_CLOCK MATCHES "^(0x[0-9a-fA-F]+|[0-9]+)$")
        target_compile_definitions(${target} PUBLIC NOPSCOPE_CLOCK_MTIME=${NOPSCOPE_CLOCK})
    elseif(NOT NOPSCOPE_CLOCK STREQUAL "time")
        message(FATAL_ERROR "NOPSCOPE_CLOCK is ${NOPSCOPE_CLOCK}: time, cycle, or the address of mtime")
    endif()
endfunction()

# It has no variants.
function(nopscope_add_arch_variants target)
endfunction()
