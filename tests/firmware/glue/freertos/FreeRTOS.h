// SPDX-License-Identifier: Apache-2.0
// A stand-in: what the glue needs of FreeRTOS' header of that name and of FreeRTOSConfig.h.
#pragma once

#define configUSE_TRACE_FACILITY 1
#define configRECORD_STACK_HIGH_ADDRESS 1
#define INCLUDE_vTaskDelete 1
#define configASSERT(condition)             \
    do {                                    \
        if (!(condition)) __builtin_trap(); \
    } while (0)
#define portDISABLE_INTERRUPTS() __asm__ volatile("msr daifset, #2" ::: "memory")
#include "nopscope_freertos.h"
