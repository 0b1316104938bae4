// SPDX-License-Identifier: Apache-2.0
#include "hal/hal.hpp"
#include "tests/firmware/storm/storm.hpp"

// functions.S: the first function's slot (the next is 64 bytes on), and the thunks (8 bytes each).
extern "C" const char storm_functions_slots[], storm_thunks[];

namespace storm {

namespace hal = nopscope::hal;

namespace {

constexpr unsigned stride = 64;
constexpr std::uint64_t interrupts_per_second = 5000, alone = 50'000;  // alone: one an operation
volatile bool stop;
volatile std::uint32_t running;  // bit mask of cores in their loop
Random randoms[cores] = {Random(11), Random(22), Random(33), Random(44)};

void on_timer(unsigned) {
    static Random own[cores] = {Random(1), Random(2), Random(3), Random(4)};
    const unsigned core = hal::this_core();
    call_some(core, 1, 5, own[core]);
    interrupts[core] = interrupts[core] + 1;
    hal::timer_arm(hal::clock() + hal::clock_hz() / (used == 1 ? alone : interrupts_per_second));
}

void begin_interrupts() {
    hal::set_handler(hal::timer_interrupt, 8, on_timer);
    hal::timer_arm(hal::clock());
    hal::enable_interrupts();
}
void end_interrupts() {
    hal::disable_interrupts();
    hal::timer_disarm();
}

void run_victim(unsigned core) {
    const hal::StackBounds stack = hal::stack_bounds();
    image::must(nopscope::join(stack.low, stack.high));
    begin_interrupts();
    __atomic_fetch_or(&running, 1u << core, __ATOMIC_RELAXED);
    // Bursts of calls, then sleep until the next interrupt: so an emulator with fewer cores runs
    // each core soon.
    while (!stop) {
        call_some(core, 0, calls_at_once, randoms[core]);
        hal::wait_for_interrupt();
    }
    end_interrupts();
    __atomic_fetch_and(&running, ~(1u << core), __ATOMIC_RELEASE);
}

}  // namespace

void call_some(unsigned core, unsigned context, unsigned calls, Random& random) {
    for (unsigned i = 0; i < calls; ++i) {
        const auto index = static_cast<unsigned>(random.below(functions));
        if (function(index)(index) != index + 1) hal::panic("storm: a traced function went wrong");
        ++called[core][context][index];
    }
}

bool start_victims() {
    for (unsigned core = 1; core < used; ++core) {
        if (!hal::start_core(core, run_victim)) return false;
    }
    while (running != (1u << used) - 2) {
    }
    if (used == 1) {
        begin_interrupts();
    } else {
        hal::enable_interrupts();
    }
    return true;
}
void stop_victims() {
    stop = true;
    while (running != 0) {
    }
    end_interrupts();
    hal::enable_interrupts();
}

unsigned used = cores;
unsigned calls_at_once = 100;
std::uint64_t called[cores][2][functions];
volatile std::uint64_t interrupts[cores];

Function function(unsigned index) {
    return reinterpret_cast<Function>(reinterpret_cast<std::uintptr_t>(storm_thunks) + 8 * index);
}
std::uint64_t address_of(unsigned index) {
    return reinterpret_cast<std::uintptr_t>(storm_functions_slots) + 8 + stride * index;
}
unsigned index_of(std::uint64_t address) {
    return static_cast<unsigned>(
        (address - reinterpret_cast<std::uintptr_t>(storm_functions_slots)) / stride);
}

// ---- the ops: callbacks use general registers only, no traced functions, no newlib ----

namespace {

void count(std::uint64_t& counter) { __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED); }

void see_all(std::uint64_t ip, std::uint64_t, nopscope::Ops*, nopscope::Regs*) {
    count(steady_saw[hal::this_core()][index_of(ip)]);
}
void see(std::uint64_t ip, std::uint64_t, nopscope::Ops* self, nopscope::Regs*) {
    const auto number = static_cast<unsigned>(self - ops);
    count(may_see[number][index_of(ip)] ? saw[number] : foreign);
}

}  // namespace

std::uint64_t steady_saw[cores][functions];
volatile bool may_see[all_ops][functions];
std::uint64_t saw[all_ops];
std::uint64_t foreign;

using nopscope::ops_unguarded;
nopscope::Ops steady{.func = see_all, .flags = ops_unguarded};
nopscope::Ops ops[all_ops] = {{.func = see}, {.func = see, .flags = ops_unguarded},
                              {.func = see}, {.func = see, .flags = ops_unguarded},
                              {.func = see}, {.func = see},
                              {.func = see}, {.func = see}};

}  // namespace storm
