// SPDX-License-Identifier: Apache-2.0
#include "host-tools/calls/places.hpp"

#include <fmt/format.h>

#include "host-tools/base/text.hpp"
#include "host-tools/calls/function_table.hpp"

namespace nopscope::host {

// Addresses are even, the offsets of interrupts are odd.
std::uint64_t key_of(const FunctionPlace& place) {
    return place.interrupt ? interrupt_offset(*place.interrupt) : place.address;
}

FunctionPlace interrupt_place(std::uint32_t offset) {
    const std::uint32_t number = interrupt_of(offset);
    return {.name = fmt::format("(interrupt {})", number), .file = {}, .interrupt = number};
}

FunctionPlace place_of(std::uint64_t address, const Function* function) {
    if (function == nullptr)
        return {.name = hex_address(address), .file = {}, .line = 0, .address = address};
    return {function->name, function->file, function->line, address, {}, function->aliases};
}

bool has_no_landing_pad(const Function* function) {
    return function != nullptr && !function->landing_pad;
}

FunctionPlace Places::operator[](std::uint32_t offset) const {
    return is_interrupt(offset) ? interrupt_place(offset)
                                : place_of(address(offset), function(offset));
}

}  // namespace nopscope::host
