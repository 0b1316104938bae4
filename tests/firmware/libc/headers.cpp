// SPDX-License-Identifier: Apache-2.0
// The C++ library headers that a firmware may use. This file tests that they compile, with either
// compiler.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#ifdef __linux__
#error "this is not Linux"
#endif
#ifdef __GLIBC__
#error "a hosted libc's headers are on the include path"
#endif
#ifndef __NEWLIB__
#error "newlib's headers are not on the include path"
#endif

// Uses some headers' code, so that the link needs what they need.
int sorted_middle(std::span<const int> values) {
    std::array<int, 64> copy{};
    const auto count = std::min(values.size(), copy.size());
    std::copy_n(values.begin(), count, copy.begin());
    std::sort(copy.begin(), copy.begin() + count);
    return count == 0 ? 0 : copy[count / 2];
}
