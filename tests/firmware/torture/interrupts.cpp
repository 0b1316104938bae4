// SPDX-License-Identifier: Apache-2.0
// Interrupts at pseudo-random times under all other cases. They nest, are traced, and use the
// registers that the interrupted code uses:
//
//     timer, priority 8       computes with doubles and vectors, raises the next and the last one
//       urgent, priority 4    preempts the timer's handler at once, raises the next one
//         most_urgent, 2      preempts that one
//       late, priority 12     must wait until the timer's handler is done
//
// The results of a handler's computations are known, so each handler checks itself.
#include "hal/hal.hpp"
#include "tests/firmware/torture/torture.hpp"

#include <stdlib.h>

namespace torture::TORTURE_LEVEL {
namespace {

namespace hal = nopscope::hal;

constexpr unsigned urgent_sgi = 1, most_urgent_sgi = 2, late_sgi = 3;
enum { timer, urgent, most_urgent, late };

uint64_t state;
bool volatile armed;
bool volatile in_timer;

void count(unsigned which) { interrupts[which] = interrupts[which] + 1; }

// In 1 to 64 microseconds: within a case, between cases, or during another handler.
void arm_next() {
    state = draw(state, 0);
    const uint64_t microseconds = 1 + state % 64;
    hal::timer_arm(hal::clock() + hal::clock_hz() * microseconds / 1000000);
}

TORTURE_CALL double dot(const double* a, const double* b, unsigned count) {
    double sum = 0;
    for (unsigned n = 0; n < count; ++n) sum += a[n] * b[n];
    return sum;
}
TORTURE_CALL Vector turn(Vector v, Vector by) { return Vector{v[1], -v[0]} * by; }
TORTURE_CALL uint64_t gcd(uint64_t a, uint64_t b) { return b == 0 ? a : gcd(b, a % b); }

TORTURE_CALL void compute() {
    const double a[] = {1, 2, 3, 4, 5}, b[] = {5, 4, 3, 2, 1};
    TORTURE_EXPECT(dot(a, b, 5) == 35);
    Vector v = {3, 4};
    for (unsigned n = 0; n < 4; ++n) v = turn(v, Vector{2, 2});
    TORTURE_EXPECT(v[0] == 48 && v[1] == 64);
    TORTURE_EXPECT(gcd(1071, 462) == 21);
}

// A core takes its own software interrupt within a few instructions if the priority allows it.
void wait_for(unsigned which, uint32_t before) {
    for (unsigned turns = 0; turns < 1000 && interrupts[which] == before; ++turns) {
        hal::fetch_barrier();
    }
    TORTURE_EXPECT(interrupts[which] == before + 1);
}

void on_most_urgent(unsigned interrupt) {
    TORTURE_EXPECT(interrupt == most_urgent_sgi);
    compute();
    count(most_urgent);
}

void on_urgent(unsigned interrupt) {
    TORTURE_EXPECT(interrupt == urgent_sgi);
    const uint32_t before = interrupts[most_urgent];
    hal::raise_interrupt(most_urgent_sgi);
    compute();
    wait_for(most_urgent, before);
    count(urgent);
}

void on_late(unsigned interrupt) {
    TORTURE_EXPECT(interrupt == late_sgi);
    TORTURE_EXPECT(!in_timer);
    compute();
    count(late);
}

void on_timer(unsigned) {
    TORTURE_EXPECT(!in_timer);
    in_timer = true;
    hal::timer_disarm();
    const uint32_t urgent_before = interrupts[urgent], late_before = interrupts[late];
    hal::raise_interrupt(late_sgi);
    hal::raise_interrupt(urgent_sgi);
    compute();
    wait_for(urgent, urgent_before);
    TORTURE_EXPECT(interrupts[late] == late_before);
    TORTURE_EXPECT(abs(-5) == 5);
    count(timer);
    if (armed) arm_next();
    in_timer = false;
}

void start_interrupts(uint64_t seed) {
    const hal::InterruptsMasked masked;
    state = seed;
    hal::set_handler(hal::timer_interrupt, 8, on_timer);
    hal::set_handler(urgent_sgi, 4, on_urgent);
    hal::set_handler(most_urgent_sgi, 2, on_most_urgent);
    hal::set_handler(late_sgi, 12, on_late);
    armed = true;
    arm_next();
}

void stop_interrupts() {
    armed = false;
    hal::timer_disarm();
}

}  // namespace

extern const std::span<const Case> call_cases, flow_cases;

#define TORTURE_TEXT(x) #x
#define TORTURE_STRING(x) TORTURE_TEXT(x)
const Suite suite = {TORTURE_STRING(TORTURE_LEVEL), call_cases, flow_cases, start_interrupts,
                     stop_interrupts};

}  // namespace torture::TORTURE_LEVEL
