// SPDX-License-Identifier: Apache-2.0
// What the test images share.
#pragma once

#include <cstdlib>
#include <cstring>

#include "firmware/config.hpp"

// Saves this stack's SP and resumes the task that was saved at `sp`
// (firmware/examples/tasks/switch.S).
extern "C" void switch_stacks(std::uint64_t* save_sp, std::uint64_t sp);

namespace image {

// True: the command line has this text.
NOPSCOPE_NOTRACE inline bool is_given(const char* text) {
    return std::strstr(nopscope::hal::command_line(), text) != nullptr;
}

// What `recorder=NAME` says; none without it.
NOPSCOPE_NOTRACE inline nopscope::Recorder recorder_given() {
    using nopscope::Recorder;
    if (is_given("recorder=function")) return Recorder::function;
    if (is_given("recorder=graph")) return Recorder::graph;
    if (is_given("recorder=profile")) return Recorder::profile;
    if (is_given("recorder=duration")) return Recorder::duration;
    return is_given("recorder=sampled") ? Recorder::sampled : Recorder::none;
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

// Returns the SP of a new stack: switch_stacks() loads zeros from there, and `begin` as x30.
NOPSCOPE_NOTRACE inline std::uint64_t begin_stack(std::uint64_t high, void (*begin)()) {
    auto* const words = reinterpret_cast<std::uint64_t*>(high - 16 - 160);
    for (unsigned i = 0; i < 20; ++i) words[i] = 0;
    words[11] = reinterpret_cast<std::uintptr_t>(begin);
    return reinterpret_cast<std::uintptr_t>(words);
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
