# SPDX-License-Identifier: Apache-2.0
# Writes header OUT from lines "@NAME VALUE" in OBJECT (tracer/runtime/assembly_offsets.cpp).
file(STRINGS "${OBJECT}" lines REGEX "^@[A-Z_]+ -?[0-9]+$")
list(REMOVE_DUPLICATES lines)
list(SORT lines)
if(NOT lines)
    message(FATAL_ERROR "${OBJECT} has no lines of offsets")
endif()
set(text "// Made from tracer/runtime/assembly_offsets.cpp.\n#pragma once\n\n")
foreach(line IN LISTS lines)
    string(REGEX REPLACE "^@([A-Z_]+) (.*)$" "#define \\1 \\2\n" line "${line}")
    string(APPEND text "${line}")
endforeach()
file(CONFIGURE OUTPUT "${OUT}" CONTENT "${text}")
