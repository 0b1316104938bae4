// SPDX-License-Identifier: Apache-2.0
// What the test images share.
#pragma once

#include <cstdlib>
#include <cstring>

#include "firmware/config.hpp"

namespace image {

// True: the command line has this text.
NOPSCOPE_NOTRACE inline bool is_given(const char* text) {
    return std::strstr(nopscope::hal::command_line(), text) != nullptr;
}

NOPSCOPE_NOTRACE inline void must(nopscope::Status status) {
    if (status != nopscope::Status::ok) nopscope::hal::panic(nopscope::describe(status));
}

// Starts the tracer and puts the console into frames on its line.
NOPSCOPE_NOTRACE inline void start_tracer(const nopscope::Config& config) {
    must(nopscope::init(config));
    nopscope::hal::set_console({nopscope::console_write, nopscope::enter_panic});
}

// For Config::profile_memory.
NOPSCOPE_NOTRACE inline std::span<std::byte> profile_memory(unsigned cores) {
    const std::size_t bytes = nopscope::profile_bytes(cores);
    return {static_cast<std::byte*>(std::malloc(bytes)), bytes};
}

// For Config::output: drops the line's bytes.
NOPSCOPE_NOTRACE inline bool swallow(std::uint8_t) { return true; }

// 64-bit xorshift (Marsaglia 2003): the same sequence in every run.
class Random {
public:
    explicit constexpr Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_;
    }
    std::uint64_t below(std::uint64_t bound) { return (next() >> 20) % bound; }

private:
    std::uint64_t state_;
};

}  // namespace image
