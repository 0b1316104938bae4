/* SPDX-License-Identifier: Apache-2.0
 * newlib's test takes the addresses of these functions, but its ctype.h has them as macros only. */
int _tolower(int);
int _toupper(int);
