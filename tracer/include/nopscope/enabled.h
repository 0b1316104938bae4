// SPDX-License-Identifier: Apache-2.0
/// \file
/// NOPSCOPE_ENABLED: whether the tracer is in this build. NOPSCOPE_NOTRACE: a function without a
/// patch site. Both are for C and C++.
///
/// NOPSCOPE_ENABLED is 1 if the tracer is in. CMake and pkg-config define it so. With 0, or without
/// a definition, the public functions are empty and inline, each request succeeds at once, and the
/// image has no byte of nopscope (SHIPPING.md).
///
/// Firmware needs no `#if` for a build without the tracer. Where it has to know, it asks in C:
///
///     if (NOPSCOPE_ENABLED) set_console(nopscope_console_write);
#pragma once

#ifndef NOPSCOPE_ENABLED
#define NOPSCOPE_ENABLED 0
#endif

/// Keeps the compiler from giving a function a patch site. Code that runs before nopscope::init(),
/// or that the tracer calls, needs it.
#define NOPSCOPE_NOTRACE __attribute__((patchable_function_entry(0, 0)))

// Before the empty functions: the compiler inlines them at every optimization level, also at -O0.
#ifdef __cplusplus
#define NOPSCOPE_EMPTY __attribute__((always_inline)) inline
#else
#define NOPSCOPE_EMPTY __attribute__((always_inline)) static inline
#endif

// Before a C function's declaration: the library has the function, or the header has an empty one.
#if NOPSCOPE_ENABLED
#define NOPSCOPE_API
#else
#define NOPSCOPE_API static inline
#endif
