// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>

namespace nopscope::host {

// Writes an integer's bytes, low ones first. Returns the end.
template <typename Integer>
char* put_little(char* to, Integer value) {
    auto rest = static_cast<std::make_unsigned_t<Integer>>(value);
    for (std::size_t i = 0; i < sizeof value; ++i) {
        *to++ = static_cast<char>(rest & 0xff);
        if constexpr (sizeof value > 1)
            rest = static_cast<std::make_unsigned_t<Integer>>(rest >> 8);
    }
    return to;
}

}  // namespace nopscope::host
