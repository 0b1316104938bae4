# SPDX-License-Identifier: Apache-2.0
# nopscope_firmware(NAME SOURCES...): an image for the configured board, linked with the tracer, the
# HAL and newlib: NAME.elf, and for the Raspberry Pi's loader the raw NAME.img.
# nopscope_instrument(NAME) instruments its own functions. NOPSCOPE_FIRMWARE_TRACER: another library
# instead of nopscope_tracer.
include_guard(GLOBAL)

set(NOPSCOPE_LINKER_SCRIPT "${PROJECT_SOURCE_DIR}/linker/${NOPSCOPE_BOARD}.ld")

# Last on each link line. newlib calls the HAL's system calls, so both are in one group.
set(CMAKE_C_STANDARD_LIBRARIES
    "-Wl,--start-group ${CMAKE_BINARY_DIR}/hal/libnopscope_hal.a \
${NOPSCOPE_NEWLIB}/lib/libc.a ${NOPSCOPE_NEWLIB}/lib/libm.a -lgcc -Wl,--end-group")
set(CMAKE_CXX_STANDARD_LIBRARIES "${CMAKE_C_STANDARD_LIBRARIES}")

add_custom_target(all_images)
function(nopscope_firmware name)
    add_executable(${name} ${ARGN})
    add_dependencies(all_images ${name})
    set_target_properties(${name} PROPERTIES
        SUFFIX .elf
        RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/firmware"
        LINK_DEPENDS "${NOPSCOPE_LINKER_SCRIPT};${PROJECT_SOURCE_DIR}/linker/sections.ld")
    if(NOT NOPSCOPE_FIRMWARE_TRACER)
        set(NOPSCOPE_FIRMWARE_TRACER nopscope_tracer)
    endif()
    target_link_libraries(${name} PRIVATE ${NOPSCOPE_FIRMWARE_TRACER} nopscope_hal)
    if(TARGET ${NOPSCOPE_FIRMWARE_TRACER})
        get_target_property(_definitions ${NOPSCOPE_FIRMWARE_TRACER} INTERFACE_COMPILE_DEFINITIONS)
        if(NOPSCOPE_DEFERS IN_LIST _definitions)  # the HAL's own vectors do not defer
            target_sources(${name} PRIVATE "${PROJECT_SOURCE_DIR}/hal/${NOPSCOPE_ARCH}/vectors.S")
        endif()
    endif()
    target_link_options(${name} PRIVATE
        -static -no-pie -nostartfiles -nostdlib ${NOPSCOPE_ERRATA_FLAGS}
        -T "${NOPSCOPE_LINKER_SCRIPT}" -L "${PROJECT_SOURCE_DIR}/linker"
        # A trace names its image by the build-id; it is also in memory (.note.gnu.build-id).
        -Wl,--build-id=sha1
        -Wl,-z,noexecstack -Wl,-z,max-page-size=4096 -Wl,--fatal-warnings
        "-Wl,-Map,${CMAKE_BINARY_DIR}/firmware/${name}.map")
    if(NOPSCOPE_BOARD MATCHES "^rpi")
        add_custom_command(TARGET ${name} POST_BUILD
            COMMAND ${CMAKE_OBJCOPY} -O binary $<TARGET_FILE:${name}>
                    "${CMAKE_BINARY_DIR}/firmware/${name}.img"
            BYPRODUCTS "${CMAKE_BINARY_DIR}/firmware/${name}.img")
    endif()
endfunction()
