// SPDX-License-Identifier: Apache-2.0
// Measuring, and saying what was measured.
//
// A figure is the difference of two runs of the same loop, so the loop, the callee and the reading
// of the counters are not in it. Instructions come from the PMU's INST_RETIRED, which QEMU has
// under
// `-icount shift=0`; there they repeat exactly. On a board the same line also has PMU cycles and
// time.
#pragma once

#include <cstdint>

// code.S
extern "C" {
using BenchFunction = void (*)();
void bench_loop(BenchFunction function, std::uint64_t calls);
void bench_plain();                      // what an instrumented empty function is without its site
void bench_empty_callback();             // a callback; its arguments do not matter to it
extern const char bench_empty_direct[];  // a direct entry that only goes on to the body
inline constexpr std::uint64_t bench_empty_direct_instructions = 3;
}

namespace bench {

struct Reading {
    std::uint64_t instructions;  // modulo 2^32
    std::uint64_t cycles;
    std::uint64_t ticks;

    Reading operator-(const Reading& other) const {
        return {(instructions - other.instructions) & 0xffff'ffff, cycles - other.cycles,
                ticks - other.ticks};
    }
};

// Starts the event counter. False: this CPU does not count instructions.
bool start_counters();
Reading read_counters();
// What reading them takes, measured by start_counters().
extern Reading reading_cost;

template <typename Work>
Reading cost_of(Work work) {
    const Reading before = read_counters();
    work();
    return read_counters() - before - reading_cost;
}

inline constexpr std::uint64_t calls = 100;
// A loop of `calls` calls: the least of some tries, for QEMU counts the instructions of all cores
// as each one's, and where others spin one of them may come in between.
Reading loop_of(BenchFunction function);

struct Row {
    const char* name;      // the case
    const char* strategy;  // "" where there is one only
    unsigned relevant;
    unsigned irrelevant;
};
// One line of JSON after "@bench ", and one for people. `off`: the same with tracing off, which is
// subtracted; `per`: what to divide by. What cannot be measured is said to be so, with the reason.
void print(const Row& row, const Reading& on, const Reading& off, std::uint64_t per);
void print_missing(const Row& row, const char* reason);

// Stops the bench when `ok` is false.
void need(bool ok, const char* what);

// What the tracer must be told, the same in both images, and the figure of its initialisation.
void initialise();

}  // namespace bench
