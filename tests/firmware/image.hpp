// SPDX-License-Identifier: Apache-2.0
// What the test images share.
#pragma once

#include <cstdlib>
#include <cstring>

#include "firmware/config.hpp"
#include "firmware/examples/tasks/switch.hpp"
#include "nopscope/contexts.hpp"
#include "nopscope/events.hpp"
#include "nopscope/return_ops.hpp"

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

// A task with its own stack and context.
struct Task {
    nopscope::Context context;
    nopscope::ContextFrame frames[129];
    alignas(16) unsigned char stack[32768];
    std::uint64_t sp, main_sp;

    // enter() then begins `run`.
    NOPSCOPE_NOTRACE nopscope::Status create(void (*run)()) {
        const auto low = reinterpret_cast<std::uintptr_t>(stack);
        sp = first_sp(stack, run);
        return nopscope::context_create(context, frames, low, low + sizeof stack);
    }
    // From the main context to the task's, and back.
    NOPSCOPE_NOTRACE void enter() {
        must(nopscope::context_switch(context));
        switch_stacks(&main_sp, sp);
    }
    NOPSCOPE_NOTRACE void leave() {
        must(nopscope::context_switch(nopscope::main_context()));
        switch_stacks(&sp, main_sp);
    }
};

// On all cores, with what the recorder of recorder_given() needs.
NOPSCOPE_NOTRACE inline nopscope::Config config_given(const char* image) {
    nopscope::Config config = board_config(image);
    config.cores = nopscope::hal::core_count();
    config.mode = nopscope::Mode::lossless;
    config.interrupt_depth = nopscope::hal::interrupt_depth_of;
    if (recorder_given() == nopscope::Recorder::profile)
        config.profile_memory = profile_memory(config.cores);
    return config;
}
// Counts the beginnings and ends of calls. General registers only, as callbacks must.
inline std::uint64_t begun, ended;
NOPSCOPE_NOTRACE inline bool count_begin(std::uint64_t, std::uint64_t, nopscope::ReturnOps*,
                                         nopscope::Regs*, nopscope::CallData*) {
    __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
    return true;
}
NOPSCOPE_NOTRACE inline void count_end(std::uint64_t, std::uint64_t, nopscope::ReturnOps*,
                                       nopscope::ReturnRegs*, nopscope::CallData*) {
    __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
}
inline nopscope::ReturnOps counting_calls(count_begin, count_end);

// Traces as these words of the command line say: recorder=NAME, ops=return (counting_calls, on all
// functions), sample=2 (every second call), events=1 (INST_RETIRED).
NOPSCOPE_NOTRACE inline void trace_as_given(const nopscope::Sites& sites) {
    static constexpr std::uint16_t instructions_retired[] = {8};
    const bool calls_back = is_given("ops=return");  // asks first: the HAL's functions are traced
    must(nopscope::enable(recorder_given(), sites));
    if (calls_back) must(nopscope::attach(counting_calls, nopscope::Sites::all()));
    if (is_given("recorder=sampled")) nopscope::set_sample(is_given("sample=2") ? 2 : 1);
    if (is_given("events=1")) must(nopscope::count_events(instructions_retired));
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
