# SPDX-License-Identifier: Apache-2.0
# The base of all cross-compiled files: common flags, newlib built from source, and libstdc++'s
# headers without their hosted libc. Sets NOPSCOPE_NEWLIB, the directory with newlib's include/ and
# lib/.
include_guard(GLOBAL)
include(nopscope_instrument)

include(arch/${NOPSCOPE_ARCH})

set(NOPSCOPE_BOARD ${_default_board} CACHE STRING "a file of hal/boards and linker, without its ending")
set(NOPSCOPE_NEWLIB_SOURCE "" CACHE FILEPATH "newlib-*.tar.xz; empty: beside the compiler, or the distribution's")

set(NOPSCOPE_COMMON_FLAGS ${_arch_flags} -ffunction-sections -fno-pic -fno-stack-protector)

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
set(_newlib "${CMAKE_CURRENT_LIST_DIR}/newlib")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${_newlib}/build.sh ${_newlib}/${NOPSCOPE_ARCH}.sh ${_newlib}/${NOPSCOPE_ARCH}_site.h)
separate_arguments(_level UNIX_COMMAND "${CMAKE_C_FLAGS}")
execute_process(
    COMMAND ${_newlib}/build.sh ${NOPSCOPE_ARCH} ${CMAKE_C_COMPILER} ${_source} ${_level}
            ${NOPSCOPE_COMMON_FLAGS} ${_arch_newlib_flags} ${NOPSCOPE_INSTRUMENT_FLAGS}
    OUTPUT_VARIABLE NOPSCOPE_NEWLIB OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "newlib: ${NOPSCOPE_NEWLIB} from ${_source}")

# ---- headers --------------------------------------------------------------------------------
# The compiler's own list without its libc's directories: libstdc++, the compiler's headers,
# newlib's.
foreach(_name include include-fixed)  # include-fixed: limits.h of a compiler built with no libc
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${_name}
                    OUTPUT_VARIABLE _gcc_include OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(IS_DIRECTORY "${_gcc_include}")
        list(APPEND _gcc_includes "${_gcc_include}")
    endif()
endforeach()
include(libstdcxx)

add_compile_options(-nostdinc)
set(_shims "${CMAKE_CURRENT_LIST_DIR}/shims")
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-isystem ${_shims}/newlib>")
if(_libstdcxx MATCHES "-linux-gnu")  # configured for glibc
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-isystem ${_shims}/linux>")
    foreach(_macro __linux__ __linux linux __gnu_linux__ __unix__ __unix unix)
        add_compile_options(-U${_macro})
    endforeach()
endif()
foreach(_dir ${_libstdcxx})
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-isystem ${_dir}>")
endforeach()
foreach(_dir ${_gcc_includes} "${NOPSCOPE_NEWLIB}/include")
    add_compile_options("SHELL:-isystem ${_dir}")
endforeach()

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
