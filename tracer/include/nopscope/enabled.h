// SPDX-License-Identifier: Apache-2.0
/// \file
/// NOPSCOPE_ENABLED: whether the tracer is in this build, for C and C++.
///
/// It is 1 if the tracer is in. CMake and pkg-config define it so. With 0, or without a definition,
/// the public functions are empty and inline, each request succeeds at once, and the image has no
/// byte of nopscope (SHIPPING.md).
///
/// Firmware needs no `#if` for a build without the tracer. Where it has to know, it asks in C:
///
///     if (NOPSCOPE_ENABLED) set_console(nopscope_console_write);
#pragma once

#ifndef NOPSCOPE_ENABLED
#define NOPSCOPE_ENABLED 0
#endif

// Before the empty functions: the compiler inlines them at every optimization level, also at -O0.
#ifdef __cplusplus
#define NOPSCOPE_EMPTY __attribute__((always_inline)) inline
#else
#define NOPSCOPE_EMPTY __attribute__((always_inline)) static inline
#endif
