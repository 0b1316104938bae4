# SPDX-License-Identifier: Apache-2.0
# The tracer's build for arm64: options, assembly, flags, and the library with the PMU's clock.
set(NOPSCOPE_TPIDR el1 CACHE STRING "the register that is the tracer's: el1 (TPIDR_EL1), el0, ro_el0 (TPIDRRO_EL0) or contextidr (CONTEXTIDR_EL1)")
option(NOPSCOPE_DEFER_INTERRUPTS "for firmware whose interrupts switch tasks: its IRQ vectors begin with nopscope_defer" OFF)
set(NOPSCOPE_CLOCK cntvct CACHE STRING "what times are counted in: cntvct, or the PMU's cycles (pmccntr)")

# Adds arm64's sources and flags to the library `target`, which has those of all architectures.
function(nopscope_add_arch target)
    set(sources begin_catch.S calibration.S hook_frame.S longjmp.S recording.S)
    list(TRANSFORM sources PREPEND ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/)
    target_sources(${target} PRIVATE ${sources})
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_FUNCTION_LIST_DIR}/include>)
    target_compile_options(${target} PRIVATE
        -mgeneral-regs-only -mno-outline-atomics -mbranch-protection=standard
        # x18 is the platform's register: a traced function may need its value.
        -ffixed-x18)
    if(NOPSCOPE_TPIDR MATCHES "^(el0|ro_el0|contextidr)$")
        string(TOUPPER "NOPSCOPE_TPIDR_${NOPSCOPE_TPIDR}" register)
        target_compile_definitions(${target} PRIVATE ${register})
    elseif(NOT NOPSCOPE_TPIDR STREQUAL "el1")
        message(FATAL_ERROR "NOPSCOPE_TPIDR is ${NOPSCOPE_TPIDR}: el1, el0, ro_el0 or contextidr")
    endif()
endfunction()

# Adds the library `target`_`name`, for tests: as `target`, and `definition` is set.
function(nopscope_add_variant target name definition)
    get_target_property(sources ${target} SOURCES)
    add_library(${target}_${name} STATIC EXCLUDE_FROM_ALL ${sources})
    foreach(property INCLUDE_DIRECTORIES INTERFACE_INCLUDE_DIRECTORIES COMPILE_OPTIONS
                     COMPILE_DEFINITIONS INTERFACE_COMPILE_DEFINITIONS)
        get_target_property(value ${target} ${property})
        set_target_properties(${target}_${name} PROPERTIES ${property} "${value}")
    endforeach()
    target_compile_definitions(${target}_${name} PUBLIC ${definition})
endfunction()

# Adds the variants `target`_pmccntr, which has the PMU's clock, and `target`_deferring, which defers
# interrupts. NOPSCOPE_CLOCK=pmccntr and NOPSCOPE_DEFER_INTERRUPTS make `target` itself such a
# library. Call it when `target` is complete.
function(nopscope_add_arch_variants target)
    nopscope_add_variant(${target} pmccntr NOPSCOPE_CLOCK_PMCCNTR)
    nopscope_add_variant(${target} deferring NOPSCOPE_DEFERS)
    if(NOPSCOPE_DEFER_INTERRUPTS)
        target_compile_definitions(${target} PUBLIC NOPSCOPE_DEFERS)
    endif()
    if(NOPSCOPE_CLOCK STREQUAL "pmccntr")
        target_compile_definitions(${target} PUBLIC NOPSCOPE_CLOCK_PMCCNTR)
    elseif(NOT NOPSCOPE_CLOCK STREQUAL "cntvct")
        message(FATAL_ERROR "NOPSCOPE_CLOCK is ${NOPSCOPE_CLOCK}: cntvct or pmccntr")
    endif()
endfunction()
