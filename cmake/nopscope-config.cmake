# SPDX-License-Identifier: Apache-2.0
# find_package(nopscope): the library nopscope::tracer, nopscope_instrument(TARGET),
# nopscope_name_table(TARGET) and nopscope_LINKER_SCRIPT. docs/integration.md shows their use.
include("${CMAKE_CURRENT_LIST_DIR}/nopscope_instrument.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/nopscope_name_table.cmake")
if(NOPSCOPE_ENABLED)
    include("${CMAKE_CURRENT_LIST_DIR}/nopscope-targets.cmake")
elseif(NOT TARGET nopscope::tracer)  # only the headers
    add_library(nopscope::tracer INTERFACE IMPORTED)
    target_include_directories(nopscope::tracer INTERFACE "${CMAKE_CURRENT_LIST_DIR}/../../../include")
    add_library(nopscope::longjmp INTERFACE IMPORTED)
    add_library(nopscope::unwinding INTERFACE IMPORTED)
endif()
cmake_path(SET nopscope_LINKER_SCRIPT NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../../share/nopscope/nopscope.ld")
