// SPDX-License-Identifier: Apache-2.0
// chain.elf: a function that each recorder traces in turn, called through 0 to 24 others that are not traced
// (chain.S). tests/bench/model.py runs it under a model of a return predictor. It sends no recording.
#include "firmware/config.hpp"
#include "firmware/counts/functions.hpp"
#include "hal/hal.hpp"
#include "tracer/events.hpp"
#include "tracer/return_ops.hpp"

#include <cstdio>

namespace hal = nopscope::hal;

extern "C" {
using ChainFunction = void (*)();
void chain_run(const char* row, ChainFunction top, std::uint64_t calls);
void chain_1();
void chain_4();
void chain_12();
void chain_24();
}

namespace {

constexpr std::uint64_t calls = 100;  // in a row

struct Top {
    unsigned above;  // the traced function
    ChainFunction function;
};
constexpr Top tops[] = {{0, counts_empty}, {1, chain_1}, {4, chain_4}, {12, chain_12}, {24, chain_24}};

const void* const traced[] = {reinterpret_cast<const void*>(counts_empty)};

alignas(128) std::byte profile_memory[1 << 20];

NOPSCOPE_NOTRACE void need(nopscope::Status status) {
    if (status != nopscope::Status::ok) hal::panic(nopscope::describe(status));
}

NOPSCOPE_NOTRACE std::uint64_t lost() {
    const nopscope::Counters counters = nopscope::counters();
    return counters.dropped + counters.unhooked + counters.foreign + counters.filtered;
}

NOPSCOPE_NOTRACE void run_rows(const char* recorder) {
    const std::uint64_t before = lost();
    for (const Top& top : tops) {
        char row[64];
        (void)std::snprintf(row, sizeof row, "%s/%u", recorder, top.above);
        chain_run(row, top.function, calls);
    }
    if (lost() != before) hal::panic("chain: a call was not recorded");
}

NOPSCOPE_NOTRACE void run_recorder(nopscope::Recorder recorder, const char* name) {
    need(nopscope::enable(recorder, nopscope::Sites::of(traced)));
    run_rows(name);
    need(nopscope::disable(nopscope::Sites::of(traced)));
}

NOPSCOPE_NOTRACE void run_return_callback() {
    static nopscope::ReturnOps ops(
        [](std::uint64_t, std::uint64_t, nopscope::ReturnOps*, nopscope::Regs*, nopscope::CallData*) { return true; },
        [](std::uint64_t, std::uint64_t, nopscope::ReturnOps*, nopscope::ReturnRegs*, nopscope::CallData*) {});
    need(nopscope::attach(ops, nopscope::Sites::of(traced)));
    run_rows("return callback");
    need(nopscope::detach(ops));
}

}  // namespace

NOPSCOPE_NOTRACE int main() {
    using nopscope::Recorder;
    nopscope::Config config = board_config("chain");
    config.profile_memory = profile_memory;
    need(nopscope::init(config));

    run_rows("off");
    run_recorder(Recorder::function, "function");
    run_recorder(Recorder::graph, "graph");
    run_recorder(Recorder::profile, "profile");
    run_recorder(Recorder::duration, "duration");
    run_return_callback();
    constexpr std::uint16_t inst_retired[] = {0x08};
    need(nopscope::count_events(inst_retired));
    run_recorder(Recorder::graph, "graph, one event");
    run_recorder(Recorder::profile, "profile, one event");
    need(nopscope::count_events({}));
    hal::print("chain: done\n");
    return 0;
}
