# SPDX-License-Identifier: Apache-2.0
# The HAL's sources for arm64.
target_sources(nopscope_hal PRIVATE
    arm64/boot.S
    arm64/boot.cpp
    arm64/boot_report.cpp
    arm64/calls.S
    arm64/cores.cpp
    arm64/exception_report.cpp
    arm64/instructions.cpp
    arm64/mmu.cpp
    arm64/psci.cpp
    arm64/time.cpp
    arm64/vectors.S
    drivers/bcm2836_interrupts.cpp
    drivers/cadence_uart.cpp
    drivers/gic_view.cpp
    drivers/gicv2.cpp
    drivers/gicv3.cpp
    drivers/mini_uart.cpp
    drivers/pl011.cpp
    drivers/videocore_gpio.cpp
    drivers/videocore_mailbox.cpp)

if(NOPSCOPE_BOARD MATCHES "^rpi")
    set(NOPSCOPE_RPI_CONSOLE pl011 CACHE STRING "the UART on pins 8 and 10: pl011 or mini-uart")
    if(NOT NOPSCOPE_RPI_CONSOLE MATCHES "^(pl011|mini-uart)$")
        message(FATAL_ERROR "NOPSCOPE_RPI_CONSOLE is ${NOPSCOPE_RPI_CONSOLE}: pl011 or mini-uart")
    endif()
endif()
target_compile_definitions(nopscope_hal PRIVATE
    NOPSCOPE_MINI_UART=$<STREQUAL:${NOPSCOPE_RPI_CONSOLE},mini-uart>)
