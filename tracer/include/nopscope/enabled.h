/* SPDX-License-Identifier: Apache-2.0
 * Is the tracer in this build? NOPSCOPE_ENABLED is 1 or 0, in C and in C++. nopscope::tracer (CMake) and pkg-config
 * define it as 1. Without a definition it is 0: the public functions are then empty and inline, and the image has
 * no byte of nopscope (SHIPPING.md). Firmware needs no #if for that. Where it has to know, it asks in C:
 *
 *     if (NOPSCOPE_ENABLED) set_console(nopscope_console_write);
 */
#pragma once

#ifndef NOPSCOPE_ENABLED
#define NOPSCOPE_ENABLED 0
#endif

/* How the empty functions are defined: inlined at every optimization level, also at -O0. */
#ifdef __cplusplus
#define NOPSCOPE_EMPTY __attribute__((always_inline)) inline
#else
#define NOPSCOPE_EMPTY __attribute__((always_inline)) static inline
#endif
