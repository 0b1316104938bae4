/* SPDX-License-Identifier: Apache-2.0
 *
 * The character classes of C++'s locales in newlib's bits, instead of glibc's.
 */
#pragma once

#include <ctype.h>

namespace std {
struct ctype_base {
    typedef char mask;
    typedef const int* __to_type;
    static const mask upper = _U;
    static const mask lower = _L;
    static const mask alpha = _U | _L;
    static const mask digit = _N;
    static const mask xdigit = _X | _N;
    static const mask space = _S;
    static const mask print = _P | _U | _L | _N | _B;
    static const mask graph = _P | _U | _L | _N;
    static const mask cntrl = _C;
    static const mask punct = _P;
    static const mask alnum = _U | _L | _N;
    static const mask blank = space;
};
}  // namespace std
