// SPDX-License-Identifier: Apache-2.0
// Time in instructions, as call_shadow.hpp counts it for each stack.
#pragma once

#include <cstdint>

namespace nopscope::host::truth {

// Counts the instructions of one core, and those of all cores, which take turns.
struct CoreClock {
    void executed() { ++own, ++all; }
    std::uint64_t& all;
    std::uint64_t own = 0;
};

// The time in which a stack ran, by what it was used for.
struct Time {
    std::uint64_t own = 0;     // the program's instructions
    std::uint64_t others = 0;  // other cores' meanwhile: the clock that all share counts them
    std::uint64_t asked = 0;   // the tracer's, in functions that the program itself calls
    std::uint64_t edges = 0;   // an interrupt's, before the tracer is told of it and after its end
    std::uint64_t interrupts = 0;  // all other time of interrupts

    // What a tracer sees that the program tells of its interrupts.
    std::uint64_t seen() const { return own + others + asked + edges; }
    static constexpr std::uint64_t Time::*all[] = {&Time::own, &Time::others, &Time::asked,
                                                   &Time::edges, &Time::interrupts};
    Time& operator+=(const Time& more) {
        for (const auto part : all) this->*part += more.*part;
        return *this;
    }
    Time& operator-=(const Time& less) {
        for (const auto part : all) this->*part -= less.*part;
        return *this;
    }
    friend Time operator+(Time to, const Time& more) { return to += more; }
    friend Time operator-(Time from, const Time& less) { return from -= less; }
};

}  // namespace nopscope::host::truth
