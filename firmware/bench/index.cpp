// SPDX-License-Identifier: Apache-2.0
#include "firmware/bench/functions.hpp"
#include "nopscope/nopscope.hpp"

namespace bench {

namespace {

std::uint32_t first_index, traced_index;

std::uint32_t look_up(BenchFunction function) {
    const auto found = nopscope::lookup(reinterpret_cast<std::uintptr_t>(function));
    need(found.has_value(), "bench: a function has no usable site");
    return *found;
}

}  // namespace

void find_functions() {
    traced_index = look_up(traced);
    first_index = look_up(functions[0]);
    for (unsigned n = 0; n < many; ++n) {
        need(look_up(functions[n]) == first_index + n && index_of(functions[n]) == first_index + n,
             "bench: the functions are not in one piece");
    }
}

std::uint32_t index_of(BenchFunction function) {
    if (function == traced) return traced_index;
    // All functions have the same size.
    const auto distance =
        reinterpret_cast<std::uintptr_t>(function) - reinterpret_cast<std::uintptr_t>(functions[0]);
    const auto stride = reinterpret_cast<std::uintptr_t>(functions[1]) -
                        reinterpret_cast<std::uintptr_t>(functions[0]);
    return first_index + static_cast<std::uint32_t>(distance / stride);
}

}  // namespace bench
