/* SPDX-License-Identifier: Apache-2.0
 *
 * libstdc++'s configuration as the distribution's aarch64-linux-gnu compiler has it, without what
 * needs a Linux kernel, threads, or a libm with every long double function below.
 */
#pragma once

#include_next <bits/c++config.h>

#undef _GLIBCXX_HAVE_LINUX_FUTEX
#undef _GLIBCXX_HAS_GTHREADS
/* newlib 3.3 has no acoshl and its kind; <cmath> then leaves C99's functions to <math.h>. */
#undef _GLIBCXX_USE_C99_MATH_TR1
