// SPDX-License-Identifier: Apache-2.0
// The two workloads of this image. The tracer has been started, and records nothing yet.
#pragma once

#include "kernel.hpp"
#include "nopscope/nopscope.hpp"

#include <cstdint>
#include <span>

// Who calls nopscope::pump(): the idle tasks, and maybe others as well; or only the recorders, when
// a ring is full.
enum class Pumps : std::uint8_t { idle, tick, task, recorders };

// `many`: the tasks switch most of the time, so that the ring is full at some switches.
void run_cooperative(bool many);

struct Preemptive {
    unsigned cores;
    std::uint64_t slice;     // ticks of hal::clock()
    std::uint64_t switches;  // in all, until the tasks end
    Pumps pumps;
    nopscope::Recorder recorder;  // of all functions
    unsigned detaches;            // so often a task attaches a callback and detaches it
    kernel::Interrupts interrupts;
};
// Panics if a task is in a callback when detach() has returned ok. Returns how often it returned
// timeout before.
unsigned attach_and_detach(unsigned number, std::span<const void* const> functions);
void run_preemptive(const Preemptive& given);
