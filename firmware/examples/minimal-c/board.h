// SPDX-License-Identifier: Apache-2.0
// What a firmware in C has to provide. Here these call the HAL.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

const char* board_name(void);
uint64_t board_clock_hz(void);
uint32_t board_baud(void);
uint64_t board_stack_low(void);
uint64_t board_stack_high(void);
bool board_try_write(uint8_t byte);
void board_drain(void);
void board_panic(const char* message);
// From now on the console goes into frames on the tracer's line.
void board_frame_console(void);

#ifdef __cplusplus
}
#endif
