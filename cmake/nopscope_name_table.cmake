# SPDX-License-Identifier: Apache-2.0
# nopscope_name_table(TARGET): puts the names of patch sites into an image, for
# nopscope::Sites::named and nopscope::site_name. Another project can include this file alone; Ninja
# and Makefiles. It links the image twice; the build-id is that of the second link and covers the
# names. The linker script needs .nopscope.names after the text, like linker/sections.ld.
include_guard(GLOBAL)
include(ExternalProject)

set(NOPSCOPE_TOOL "" CACHE FILEPATH "the nopscope command; empty: built here, or the one on PATH")
set(_nopscope_cmake "${CMAKE_CURRENT_LIST_DIR}")

function(nopscope_name_table target)
    if(DEFINED NOPSCOPE_ENABLED AND NOT NOPSCOPE_ENABLED)
        return()
    endif()
    set(tool "${NOPSCOPE_TOOL}")
    if(NOT tool AND NOT EXISTS "${_nopscope_cmake}/../host-tools")  # installed
        find_program(NOPSCOPE_INSTALLED_TOOL nopscope)
        if(NOT NOPSCOPE_INSTALLED_TOOL)
            message(FATAL_ERROR "nopscope_name_table(${target}): no nopscope command on PATH: give it, NOPSCOPE_TOOL")
        endif()
        set(tool "${NOPSCOPE_INSTALLED_TOOL}")
    endif()
    if(NOT tool)
        set(directory "${CMAKE_BINARY_DIR}/nopscope-tool")
        set(tool "${directory}/bin/nopscope")
        if(NOT TARGET nopscope_tool)
            ExternalProject_Add(nopscope_tool
                SOURCE_DIR "${_nopscope_cmake}/.."
                BINARY_DIR "${directory}"
                PREFIX "${directory}/external"
                CMAKE_ARGS -DNOPSCOPE_TESTS=OFF -DCMAKE_BUILD_TYPE=
                BUILD_COMMAND "${CMAKE_COMMAND}" --build "${directory}" --target nopscope
                INSTALL_COMMAND ""
                BUILD_BYPRODUCTS "${tool}"
                BUILD_ALWAYS ON
                EXCLUDE_FROM_ALL ON)
        endif()
        add_dependencies(${target} nopscope_tool)
    endif()
    set(script "${_nopscope_cmake}/link_with_names.sh")
    set_target_properties(${target} PROPERTIES
        C_LINKER_LAUNCHER "${script};${tool}" CXX_LINKER_LAUNCHER "${script};${tool}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${script}" "${tool}")
endfunction()
