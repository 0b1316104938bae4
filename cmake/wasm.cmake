# SPDX-License-Identifier: Apache-2.0
# nopscope_engine_module(VARIABLE SOURCE...): a rule for engine.wasm, the engine of
# host-tools/views/engine/ for a page. Sets VARIABLE to its path, and VARIABLE_licences to the
# licences in it. SOURCES are those that the host command shares with it. clang-19 and Debian's
# wasi-libc and libc++ compile them for wasm32-wasi without exceptions. The module is a reactor:
# views/engine/wasm.cpp describes its use.

# What page memory a module may get: half of what 32 bits can address.
set(_most_memory 2147483648)

function(nopscope_engine_module variable)
    find_program(NOPSCOPE_WASM_CC clang-19 REQUIRED)
    find_program(NOPSCOPE_WASM_CXX clang++-19 REQUIRED)
    set(build "${CMAKE_CURRENT_BINARY_DIR}/engine")

    # Only the decompressor, from Debian's source package of the library that the command has.
    execute_process(
        COMMAND "${PROJECT_SOURCE_DIR}/cmake/fetch_source.sh" libzstd lib/decompress/zstd_decompress.c lib
        OUTPUT_VARIABLE zstd OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    file(GLOB zstd_sources "${zstd}/lib/common/*.c" "${zstd}/lib/decompress/*.c")

    # The headers of two libraries, without the C library's that lie beside them.
    set(headers "${build}/include")
    file(MAKE_DIRECTORY "${headers}")
    foreach(library fmt nlohmann)
        find_path(NOPSCOPE_WASM_${library} NAMES ${library} REQUIRED)
        file(CREATE_LINK "${NOPSCOPE_WASM_${library}}/${library}" "${headers}/${library}" SYMBOLIC)
    endforeach()

    set(common --target=wasm32-wasi -O2 -DNDEBUG -ffunction-sections -fdata-sections -isystem "${zstd}/lib")
    set(c_flags ${common} -w -DZSTD_DISABLE_ASM -DZSTD_LEGACY_SUPPORT=0 -DXXH_NAMESPACE=ZSTD_)
    set(cxx_flags ${common} -std=c++23 -fno-exceptions -fno-rtti -Wall -Wextra -Wpedantic -Wconversion -Wshadow
        -isystem "${headers}" -DFMT_HEADER_ONLY)
    foreach(directory "" /tracer/include /tracer/arch/arm64/include)
        list(APPEND cxx_flags "-I${PROJECT_SOURCE_DIR}${directory}")
    endforeach()

    set(objects)
    foreach(source ${zstd_sources} ${ARGN} views/engine/wasm.cpp)
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE path)
        cmake_path(GET source EXTENSION LAST_ONLY extension)
        if(extension STREQUAL .c)
            cmake_path(GET source FILENAME name)
            set(compile "${NOPSCOPE_WASM_CC}" ${c_flags})
        else()
            string(REPLACE / - name "${source}")
            set(compile ${CMAKE_CXX_COMPILER_LAUNCHER} "${NOPSCOPE_WASM_CXX}" ${cxx_flags})
        endif()
        set(object "${build}/${name}.o")
        add_custom_command(OUTPUT "${object}"
            COMMAND ${compile} -MD -MT "${object}" -MF "${object}.d" -c "${path}" -o "${object}"
            DEPENDS "${path}" DEPFILE "${object}.d"
            COMMENT "Compiling ${name} for the page" VERBATIM)
        list(APPEND objects "${object}")
    endforeach()

    # The stack lies first, so an overflow ends the module and changes no data.
    set(module "${build}/engine.wasm")
    add_custom_command(OUTPUT "${module}"
        COMMAND "${NOPSCOPE_WASM_CXX}" --target=wasm32-wasi -mexec-model=reactor -O2 ${objects} -o "${module}"
                -Wl,--gc-sections,--strip-all,--stack-first,-z,stack-size=1048576,--max-memory=${_most_memory}
        DEPENDS ${objects}
        COMMENT "Linking engine.wasm" VERBATIM)
    set(${variable} "${module}" PARENT_SCOPE)

    # What the page must say of them (build.mjs): a list of NAME=FILE.
    set(licences)
    foreach(package libzstd-dev libfmt-dev nlohmann-json3-dev libc++-19-dev-wasm32 wasi-libc)
        set(file "/usr/share/doc/${package}/copyright")
        if(NOT EXISTS "${file}")
            message(FATAL_ERROR "${file} is missing: the page must contain it")
        endif()
        list(APPEND licences "${package}=${file}")
    endforeach()
    set(${variable}_licences "${licences}" PARENT_SCOPE)
endfunction()
