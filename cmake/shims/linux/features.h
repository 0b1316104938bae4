/* SPDX-License-Identifier: Apache-2.0
 *
 * glibc's <features.h>, which libstdc++'s Linux configuration asks for: here there is no glibc.
 */
#pragma once

#define __GLIBC_PREREQ(major, minor) 0
