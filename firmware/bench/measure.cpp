// SPDX-License-Identifier: Apache-2.0
#include "firmware/bench/measure.hpp"

#include "firmware/bench/counters.hpp"
#include "firmware/config.hpp"
#include "hal/hal.hpp"
#include "nopscope/nopscope.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace hal = nopscope::hal;

namespace bench {

namespace {

// Signed: with noise, the difference of two readings may be negative.
double per(std::uint64_t on, std::uint64_t off, std::uint64_t count) {
    return static_cast<double>(static_cast<std::int64_t>(on - off)) / static_cast<double>(count);
}

long long difference(std::uint64_t on, std::uint64_t off) {
    return static_cast<long long>(on - off);
}

template <typename Measure>
Reading least_of_some(Measure measure) {
    Reading least = measure();
    for (unsigned n = 1; n < 8; ++n) {
        const Reading one = measure();
        if (one.instructions < least.instructions ||
            (one.instructions == least.instructions && one.cycles < least.cycles)) {
            least = one;
        }
    }
    return least;
}

bool for_people = true;

}  // namespace

constinit Reading reading_cost{};

bool start_counters() {
    const bool counts = count_instructions();
    reading_cost = least_of_some([] { return cost_of([] {}); });
    return counts;
}

// Not inlined, so that it always costs the same number of instructions.
[[gnu::noinline]] Reading read_counters() {
    Reading now;
    read_all(now.instructions, now.cycles, now.ticks);
    return now;
}

Reading loop_of(BenchFunction function) {
    return least_of_some([&] {
        nopscope::pump();
        return cost_of([&] { bench_loop(function, calls); });
    });
}

const char* variant = "";

void print(const Row& row, const Reading& on, const Reading& off, std::uint64_t count) {
    const char* const strategy = *row.strategy != '\0' ? row.strategy : variant;
    const double hz = static_cast<double>(hal::clock_hz());
    const long long instructions = difference(on.instructions, off.instructions);
    const double ns = per(on.ticks, off.ticks, count) * 1e9 / hz;
    const double cycles = per(on.cycles, off.cycles, count);
    printf(
        "@bench {\"case\": \"%s\", \"strategy\": \"%s\", \"relevant\": %u, \"irrelevant\": %u, "
        "\"instructions\": %lld, \"per\": %lu, \"ns_per_call\": %.3f, \"cycles_per_call\": %.3f, "
        "\"off\": %.3f}\n",
        row.name, strategy, row.relevant, row.irrelevant, instructions,
        static_cast<unsigned long>(count), ns, cycles, per(off.instructions, 0, count));
    if (!for_people) return;
    printf("%-34s %-9s %4u %4u %11.3f instr %11.3f cycles %11.3f ns\n", row.name, strategy,
           row.relevant, row.irrelevant,
           static_cast<double>(instructions) / static_cast<double>(count), cycles, ns);
}

void print_missing(const Row& row, const char* reason) {
    printf(
        "@bench {\"case\": \"%s\", \"strategy\": \"%s\", \"relevant\": %u, \"irrelevant\": %u, "
        "\"missing\": \"%s\"}\n",
        row.name, row.strategy, row.relevant, row.irrelevant, reason);
    if (for_people) {
        printf("%-34s %-9s %4u %4u  %s\n", row.name, row.strategy, row.relevant, row.irrelevant,
               reason);
    }
}

void need(bool ok, const char* what) {
    if (!ok) hal::panic(what);
}

void initialise() {
    const bool counts = start_counters();
    nopscope::Config config = board_config("bench");
    config.mode = nopscope::Mode::stream;
    if (const char* const budget = strstr(hal::command_line(), "budget="))
        config.pump_budget = static_cast<std::uint32_t>(strtoul(budget + 7, nullptr, 10));
    const size_t bytes = nopscope::profile_bytes(config.cores);
    config.profile_memory = {static_cast<std::byte*>(malloc(bytes)), bytes};
    nopscope::Status status;
    const Reading cost = cost_of([&] { status = nopscope::init(config); });
    need(status == nopscope::Status::ok, nopscope::describe(status));
    hal::set_console({nopscope::console_write, nopscope::enter_panic});

    for_people = strstr(hal::command_line(), "quiet") == nullptr;
    printf("bench on %s, clock %lu Hz, compiler %s, instructions %s\n", hal::board_name(),
           static_cast<unsigned long>(hal::clock_hz()), __VERSION__,
           counts ? "counted" : "not counted by this CPU: only cycles and time are of use");
    printf("@bench {\"board\": \"%s\", \"clock_hz\": %lu, \"compiler\": \"%s\", \"counted\": %s}\n",
           hal::board_name(), static_cast<unsigned long>(hal::clock_hz()), __VERSION__,
           counts ? "true" : "false");
    // All of init(), with the rings of all cores. The host subtracts bench-boot.elf's.
    print({"init", "", 0, 0}, cost, {}, nopscope::site_count());
}

}  // namespace bench
