/* SPDX-License-Identifier: Apache-2.0
 * Functions that newlib's test takes the addresses of, and which its ctype.h has as macros only. */
int _tolower(int);
int _toupper(int);
