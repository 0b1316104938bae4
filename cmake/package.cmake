# SPDX-License-Identifier: Apache-2.0
# The tracer for other firmware: nopscope_install() serves find_package(nopscope), pkg-config and
# Makefiles. Sets nopscope_LINKER_SCRIPT, which completes a linker script without nopscope.
include_guard(GLOBAL)
include(nopscope_instrument)
include(nopscope_name_table)

set(NOPSCOPE_MACHINE given CACHE STRING "")

# A compiler without libstdc++'s headers, as Debian's for RISC-V. These are glibc's, which wants its own for C.
include(arch/${NOPSCOPE_ARCH})
include(libstdcxx)
if(_libstdcxx_is_elsewhere)
    cmake_path(GET _libstdcxx_elsewhere PARENT_PATH _libc)
    foreach(_directory ${_libstdcxx} ${_libc})
        add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-isystem ${_directory} -D_GNU_SOURCE>")
    endforeach()
endif()
set(nopscope_LINKER_SCRIPT "${PROJECT_SOURCE_DIR}/linker/nopscope.ld")
if(NOT PROJECT_IS_TOP_LEVEL)
    set(nopscope_LINKER_SCRIPT "${nopscope_LINKER_SCRIPT}" PARENT_SCOPE)
endif()

function(nopscope_install)
    if(NOT PROJECT_IS_TOP_LEVEL)
        return()
    endif()
    if(NOT NOPSCOPE_ENABLED)
        message(FATAL_ERROR "NOPSCOPE_ENABLED=OFF is for the project of a firmware: the package has the tracer")
    endif()
    include(CMakePackageConfigHelpers)
    set(package lib/cmake/nopscope)

    install(TARGETS nopscope_tracer nopscope_longjmp nopscope_unwinding EXPORT nopscope ARCHIVE DESTINATION lib)
    set_target_properties(nopscope_tracer PROPERTIES EXPORT_NAME tracer)
    set_target_properties(nopscope_longjmp PROPERTIES EXPORT_NAME longjmp)
    set_target_properties(nopscope_unwinding PROPERTIES EXPORT_NAME unwinding)
    install(EXPORT nopscope NAMESPACE nopscope:: FILE nopscope-targets.cmake DESTINATION ${package})
    install(DIRECTORY tracer/include/nopscope DESTINATION include)
    install(DIRECTORY tracer/arch/${NOPSCOPE_ARCH}/include/nopscope DESTINATION include OPTIONAL)
    install(FILES linker/nopscope.ld DESTINATION share/nopscope)
    install(FILES cmake/nopscope-config.cmake cmake/nopscope_instrument.cmake cmake/nopscope_name_table.cmake
            DESTINATION ${package})
    install(PROGRAMS cmake/link_with_names.sh DESTINATION ${package})
    # Below 1.0 a new minor version may break users of the old one (semver.org).
    write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/nopscope-config-version.cmake"
                                     COMPATIBILITY SameMinorVersion)
    install(FILES "${CMAKE_CURRENT_BINARY_DIR}/nopscope-config-version.cmake" DESTINATION ${package})

    list(JOIN NOPSCOPE_INSTRUMENT_FLAGS " " NOPSCOPE_INSTRUMENT)
    list(JOIN NOPSCOPE_CLANG_FLAGS " " NOPSCOPE_INSTRUMENT_CLANG)
    if(NOPSCOPE_DEFER_INTERRUPTS)
        set(NOPSCOPE_DEFERS " -DNOPSCOPE_DEFERS")
    else()
        set(NOPSCOPE_DEFERS "")
    endif()
    configure_file(cmake/nopscope.pc.in nopscope.pc @ONLY)
    install(FILES "${CMAKE_CURRENT_BINARY_DIR}/nopscope.pc" DESTINATION lib/pkgconfig)
endfunction()
