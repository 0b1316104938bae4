# SPDX-License-Identifier: Apache-2.0
# The base of all cross-compiled files: common flags, newlib built from source, and libstdc++'s
# headers without their hosted libc. Sets NOPSCOPE_NEWLIB, the directory with newlib's include/ and
# lib/.
include_guard(GLOBAL)
include(nopscope_instrument)

set(NOPSCOPE_BOARD virt CACHE STRING "a file of hal/boards and linker, without its ending")
set(NOPSCOPE_NEWLIB_SOURCE "" CACHE FILEPATH "newlib-*.tar.xz; empty: beside the compiler, or the distribution's")

set(NOPSCOPE_COMMON_FLAGS
    -mbranch-protection=standard -ffunction-sections -mno-outline-atomics
    -fno-pic -fno-stack-protector)
# Cortex-A53 errata up to r0p4: compiler and linker add a NOP or branch where the core would compute
# a wrong sum or address. newlib has them for all boards: it takes a minute, so build only one.
set(_errata_flags -mfix-cortex-a53-835769 -mfix-cortex-a53-843419)
if(NOPSCOPE_BOARD MATCHES "^(rpi3|zcu102)$")
    set(NOPSCOPE_ERRATA_FLAGS ${_errata_flags})
endif()

# ---- newlib ---------------------------------------------------------------------------------
if(NOPSCOPE_NEWLIB_SOURCE)
    set(_source "${NOPSCOPE_NEWLIB_SOURCE}")
else()
    cmake_path(GET CMAKE_C_COMPILER PARENT_PATH _bin)
    file(GLOB _found "${_bin}/../src/newlib/newlib-*.tar.*" "/usr/src/newlib/newlib-*.tar.*")
    if(NOT _found)
        message(FATAL_ERROR "no newlib source (package newlib-source): run ./dev setup")
    endif()
    list(GET _found 0 _source)
endif()
# The result depends on these scripts, too.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${CMAKE_CURRENT_LIST_DIR}/newlib/build.sh ${CMAKE_CURRENT_LIST_DIR}/newlib/patch.sh
             ${CMAKE_CURRENT_LIST_DIR}/newlib/nopscope_site.h)
execute_process(
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/newlib/build.sh ${CMAKE_C_COMPILER} ${_source}
            ${NOPSCOPE_COMMON_FLAGS} ${_errata_flags} ${NOPSCOPE_INSTRUMENT_FLAGS}
    OUTPUT_VARIABLE NOPSCOPE_NEWLIB OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "newlib: ${NOPSCOPE_NEWLIB} from ${_source}")

# ---- headers --------------------------------------------------------------------------------
# The compiler's own list without its libc's directories: libstdc++, the compiler's headers,
# newlib's.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -E -x c++ -v /dev/null
                ERROR_VARIABLE _verbose OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=include
                OUTPUT_VARIABLE _gcc_include OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REGEX MATCHALL "\n [^\n]*/c\\+\\+/[^\n]*" _libstdcxx "${_verbose}")
list(TRANSFORM _libstdcxx STRIP)

add_compile_options(-nostdinc)
execute_process(COMMAND ${CMAKE_C_COMPILER} -dumpmachine
                OUTPUT_VARIABLE _machine OUTPUT_STRIP_TRAILING_WHITESPACE)
set(_shims "${CMAKE_CURRENT_LIST_DIR}/shims")
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-isystem ${_shims}/newlib>")
if(_machine MATCHES "linux")
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-isystem ${_shims}/linux>")
    foreach(_macro __linux__ __linux linux __gnu_linux__ __unix__ __unix unix)
        add_compile_options(-U${_macro})
    endforeach()
endif()
foreach(_dir ${_libstdcxx})
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-isystem ${_dir}>")
endforeach()
add_compile_options("SHELL:-isystem ${_gcc_include}" "SHELL:-isystem ${NOPSCOPE_NEWLIB}/include")

# ---- flags ----------------------------------------------------------------------------------
add_compile_options(
    ${NOPSCOPE_COMMON_FLAGS} ${NOPSCOPE_ERRATA_FLAGS} -g
    # Debug information names files relative to the repository's root, wherever it was built.
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -ffile-prefix-map=${CMAKE_BINARY_DIR}=.
    # One of the compilers predefines it for C++, the other does not.
    "$<$<COMPILE_LANGUAGE:CXX>:-D_GNU_SOURCE>"
    "$<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions;-fno-rtti;-fno-threadsafe-statics>")

# For tests that inspect the build (tests/rules).
file(WRITE "${CMAKE_BINARY_DIR}/toolchain.json"
     "{\"binutils\": \"${NOPSCOPE_CROSS}\", \"newlib\": \"${NOPSCOPE_NEWLIB}\", "
     "\"errata_flags\": \"${NOPSCOPE_ERRATA_FLAGS}\"}\n")
