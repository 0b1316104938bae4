/* SPDX-License-Identifier: Apache-2.0
 *
 * GCC's <limits.h> before 13 has C99's limits in C only, and leaves the rest to a libc; newlib
 * leaves them to GCC.
 */
#pragma once

#include_next <limits.h>

#if defined(__cplusplus) && !defined(LLONG_MAX)
#define LLONG_MAX __LONG_LONG_MAX__
#define LLONG_MIN (-LLONG_MAX - 1LL)
#define ULLONG_MAX (LLONG_MAX * 2ULL + 1ULL)
#endif
