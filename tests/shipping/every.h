/* SPDX-License-Identifier: Apache-2.0
 * How every.c and every.cpp call the API. With WITHOUT_CALLS the same files call nothing: the image that a build
 * without the tracer must be equal to. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
void fail(void);  /* another file's: a call whose result is not constant stays in the image */
#ifdef __cplusplus
}
#endif

#ifdef WITHOUT_CALLS
#define CALL(...)
#define EXPECT(...)
#else
#define CALL(...) __VA_ARGS__
#define EXPECT(...) do { if (!(__VA_ARGS__)) fail(); } while (0)
#endif
