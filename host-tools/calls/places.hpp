// SPDX-License-Identifier: Apache-2.0
// Where a function is defined, and which function a recording's numbers stand for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host-tools/image/symbols.hpp"
#include "host-tools/line/stream/session.hpp"

namespace nopscope::host {

// The name of the row for all functions and paths that --memory has no room for.
inline constexpr char others_name[] = "(others)";

struct FunctionPlace {
    std::string name;
    std::string file;  // empty: unknown
    std::uint32_t line = 0;
    std::uint64_t address = 0;  // link time
    // Set for an interrupt, which has no file and no address.
    std::optional<std::uint32_t> interrupt = std::nullopt;
    std::vector<std::string> aliases = {};  // as Function's
};

// A key that is unique among functions and interrupts, and the same in every report of an image. A
// function's key is its address. 0: the place is neither.
std::uint64_t key_of(const FunctionPlace& place);
// The position of the function with this key_of() in a view's list. Below 0: it is not in the list.
using PositionOf = std::function<std::int64_t(std::uint64_t key)>;

// The place of an interrupt (interrupt_offset()).
FunctionPlace interrupt_place(std::uint32_t offset);
// A place in this function, or in an unknown one (null), which gets the address as its name.
FunctionPlace place_of(std::uint64_t address, const Function* function);
inline FunctionPlace others_place() { return {.name = others_name, .file = {}}; }
// False for an unknown function (null).
bool has_no_landing_pad(const Function* function);

// The functions of a recording, by the offsets of their sites in the text.
struct Places {
    const HelloInfo& hello;
    const Symbols* symbols;  // null: addresses name functions

    // Of link time.
    std::uint64_t address(std::uint64_t offset) const {
        return hello.text_base - hello.load_bias + offset;
    }
    const Function* function(std::uint32_t offset) const {
        return symbols != nullptr ? symbols->find(address(offset)) : nullptr;
    }
    // The function that contains this address of link time; null: unknown.
    const Function* around(std::uint64_t address) const {
        return symbols != nullptr ? symbols->around(address) : nullptr;
    }
    bool lacks_landing_pad(std::uint32_t offset) const {
        return has_no_landing_pad(function(offset));
    }
    // Of a function or an interrupt.
    FunctionPlace operator[](std::uint32_t offset) const;
};

// The row of the function at this place.
template <typename Row>
Row row_at(FunctionPlace place) {
    Row row;
    static_cast<FunctionPlace&>(row) = std::move(place);
    return row;
}

}  // namespace nopscope::host
