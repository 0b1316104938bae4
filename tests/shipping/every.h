/* SPDX-License-Identifier: Apache-2.0
 * How every.c and every.cpp call the API. With WITHOUT_CALLS the same files call nothing. A build
 * without the tracer must make the same image. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
void fail(void); /* in another file: a call with a variable result stays in the image */
#ifdef __cplusplus
}
#endif

#ifdef WITHOUT_CALLS
#define CALL(...)
#define EXPECT(...)
#else
#define CALL(...) __VA_ARGS__
#define EXPECT(...)                 \
    do {                            \
        if (!(__VA_ARGS__)) fail(); \
    } while (0)
#endif
