// SPDX-License-Identifier: Apache-2.0
// Measures, and prints the figures.
//
// A figure is the difference between two runs of the same loop. So it does not include the loop,
// the callee and the reading of the counters. Instructions come from the CPU (counters.hpp). With
// QEMU's `-icount shift=0` figures repeat exactly. On a board a line also has cycles and time.
#pragma once

#include <cstdint>

// The architecture's code.S.
extern "C" {
using BenchFunction = void (*)();
void bench_loop(BenchFunction function, std::uint64_t calls);
void bench_plain();                      // like an instrumented empty function, without a site
void bench_empty_callback();             // a callback that ignores its arguments
extern const char bench_empty_direct[];  // a direct entry that goes straight to the body
#ifdef __riscv
inline constexpr std::uint64_t bench_empty_direct_instructions = 1;
#else
inline constexpr std::uint64_t bench_empty_direct_instructions = 3;
#endif
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

// Starts the event counter. False: this CPU cannot count instructions.
bool start_counters();
Reading read_counters();
// The cost of reading the counters, measured by start_counters().
extern Reading reading_cost;

template <typename Work>
Reading cost_of(Work work) {
    const Reading before = read_counters();
    work();
    return read_counters() - before - reading_cost;
}

inline constexpr std::uint64_t calls = 100;
// Measures a loop of `calls` calls, several times, and returns the least. QEMU adds the
// instructions of all cores to each core's count, so another core that spins may disturb one run.
Reading loop_of(BenchFunction function);

// The strategy of rows without one: which library this image has.
extern const char* variant;

struct Row {
    const char* name;      // the case
    const char* strategy;  // "": `variant`
    unsigned relevant;
    unsigned irrelevant;
};
// Prints one line of JSON after "@bench ", and one for people. `off`: the reading with tracing off,
// to subtract. `per`: the divisor. print_missing: this row has no figure, for `reason`.
void print(const Row& row, const Reading& on, const Reading& off, std::uint64_t per);
void print_missing(const Row& row, const char* reason);

// Panics if `ok` is false.
void need(bool ok, const char* what);

// Initialises the tracer, the same way in both images, and prints the cost.
void initialise();

}  // namespace bench
