/* SPDX-License-Identifier: Apache-2.0
 *
 * What libstdc++'s <iterator> and <memory> need of a locale to compile. Locales themselves are in
 * libstdc++.a, which firmware is not linked with.
 */
#pragma once

#include <clocale>

#define _GLIBCXX_NUM_CATEGORIES 0

namespace std {
typedef int* __c_locale;
int __convert_from_v(const __c_locale&, char*, int, const char*, ...);
}  // namespace std
