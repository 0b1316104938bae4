/* SPDX-License-Identifier: Apache-2.0
 *
 * libstdc++'s configuration as the distribution's aarch64-linux-gnu compiler has it, without what
 * needs a Linux kernel or threads below.
 */
#pragma once

#include_next <bits/c++config.h>

#undef _GLIBCXX_HAVE_LINUX_FUTEX
#undef _GLIBCXX_HAS_GTHREADS
