/* SPDX-License-Identifier: Apache-2.0
 *
 * Some distributions' aarch64-none-elf libstdc++ is configured for picolibc: its ctype_base.h wants
 * these names for newlib's bits. No code here uses locales; <memory> includes them.
 */
#pragma once

#include_next <ctype.h>

#ifndef __CTYPE_UPPER
#define __CTYPE_UPPER _U
#define __CTYPE_LOWER _L
#define __CTYPE_DIGIT _N
#define __CTYPE_SPACE _S
#define __CTYPE_PUNCT _P
#define __CTYPE_CNTRL _C
#define __CTYPE_HEX _X
#define __CTYPE_BLANK _B
#define __CTYPE_TAB _B
#endif
