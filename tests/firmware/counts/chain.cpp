// SPDX-License-Identifier: Apache-2.0
// chain.elf: each recorder in turn traces a function that is called through 0 to 24 untraced
// functions (chain.S). tests/bench/model.py runs it under a model of a return predictor. It sends
// no recording. For each row it prints a line of JSON (after "@chain ") with the PMU's counts: on a
// board these are measurements (docs/bench.md).
#include "nopscope/events.hpp"
#include "nopscope/return_ops.hpp"
#include "tests/firmware/counts/functions.hpp"
#include "tests/firmware/image.hpp"

#include <cstdio>

namespace hal = nopscope::hal;
using image::must;

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
constexpr unsigned tries = 3;         // a row: caches and predictors learn; the least is printed

struct Top {
    unsigned above;  // how many functions call the traced one
    ChainFunction function;
};
constexpr Top tops[] = {
    {0, counts_empty}, {1, chain_1}, {4, chain_4}, {12, chain_12}, {24, chain_24}};

const void* const traced[] = {reinterpret_cast<const void*>(counts_empty)};

alignas(128) std::byte profile_memory[1 << 20];

NOPSCOPE_NOTRACE std::uint64_t lost() {
    const nopscope::Counters counters = nopscope::counters();
    return counters.dropped + counters.shadow_stack_full + counters.off_stack + counters.filtered;
}

// The tracer uses event counters 0 and 1. Events: Arm ARM DDI 0487, D13.11.
NOPSCOPE_NOTRACE void start_counters() {
    asm volatile(
        "msr pmevtyper2_el0, %0\n\t"
        "msr pmevtyper3_el0, %1\n\t"
        "msr pmcntenset_el0, %2\n\t"
        "isb" ::"r"(std::uint64_t{0x08}),  // INST_RETIRED
        "r"(std::uint64_t{0x10}),          // BR_MIS_PRED
        "r"(std::uint64_t{0b1100} | std::uint64_t{1} << 31));
}

struct Counts {
    std::uint64_t cycles, instructions, mispredicted;
};

NOPSCOPE_NOTRACE Counts read_counters() {
    Counts now;
    asm volatile(
        "isb\n\t"
        "mrs %0, pmccntr_el0\n\t"
        "mrs %1, pmevcntr2_el0\n\t"
        "mrs %2, pmevcntr3_el0\n\t"
        "isb"
        : "=r"(now.cycles), "=r"(now.instructions), "=r"(now.mispredicted)::"memory");
    return now;
}

// QEMU does not count them.
NOPSCOPE_NOTRACE bool counts_mispredictions() {
    std::uint64_t events;
    asm volatile("mrs %0, pmceid0_el0" : "=r"(events));
    return (events >> 0x10 & 1) != 0;
}

NOPSCOPE_NOTRACE void run_row(const char* row, ChainFunction top) {
    unsigned cycles = ~0u, instructions = 0, mispredictions = 0;
    for (unsigned n = 1; n <= tries; ++n) {
        const Counts before = read_counters();
        chain_run(n == tries ? row : nullptr, top, calls);
        const Counts now = read_counters();
        if (unsigned(now.cycles - before.cycles) >= cycles) continue;
        cycles = unsigned(now.cycles - before.cycles);
        instructions = unsigned(now.instructions - before.instructions);
        mispredictions = unsigned(now.mispredicted - before.mispredicted);
    }
    char mispredicted[16] = "null", line[160];
    if (counts_mispredictions())
        (void)std::snprintf(mispredicted, sizeof mispredicted, "%u", mispredictions);
    (void)std::snprintf(
        line, sizeof line,
        "@chain {\"row\": \"%s\", \"calls\": %u, \"cycles\": %u, \"instructions\": %u, "
        "\"mispredicted\": %s}\n",
        row, unsigned(calls), cycles, instructions, mispredicted);
    hal::print(line);
}

NOPSCOPE_NOTRACE void run_rows(const char* recorder) {
    const std::uint64_t before = lost();
    for (const Top& top : tops) {
        char row[64];
        (void)std::snprintf(row, sizeof row, "%s/%u", recorder, top.above);
        run_row(row, top.function);
    }
    if (lost() != before) hal::panic("chain: a call was not recorded");
}

NOPSCOPE_NOTRACE void run_recorder(nopscope::Recorder recorder, const char* name) {
    must(nopscope::enable(recorder, nopscope::Sites::of(traced)));
    run_rows(name);
    must(nopscope::disable(nopscope::Sites::of(traced)));
}

NOPSCOPE_NOTRACE void run_return_callback() {
    static nopscope::ReturnOps ops([](std::uint64_t, std::uint64_t, nopscope::ReturnOps*,
                                      nopscope::Regs*, nopscope::CallData*) { return true; },
                                   [](std::uint64_t, std::uint64_t, nopscope::ReturnOps*,
                                      nopscope::ReturnRegs*, nopscope::CallData*) {});
    must(nopscope::attach(ops, nopscope::Sites::of(traced)));
    run_rows("return callback");
    must(nopscope::detach(ops));
}

}  // namespace

NOPSCOPE_NOTRACE int main() {
    using nopscope::Recorder;
    nopscope::Config config = board_config("chain");
    config.profile_memory = profile_memory;
    must(nopscope::init(config));
    start_counters();
    hal::print("\n");

    run_rows("off");
    run_recorder(Recorder::function, "function");
    run_recorder(Recorder::graph, "graph");
    run_recorder(Recorder::profile, "profile");
    run_recorder(Recorder::duration, "duration");
    run_return_callback();
    constexpr std::uint16_t inst_retired[] = {0x08};
    must(nopscope::count_events(inst_retired));
    run_recorder(Recorder::graph, "graph, one event");
    run_recorder(Recorder::profile, "profile, one event");
    must(nopscope::count_events({}));
    hal::print("chain: done\n");
    return 0;
}
