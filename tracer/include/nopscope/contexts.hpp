// SPDX-License-Identifier: Apache-2.0
// Contexts: tasks with stacks of their own, which take turns on a core.
//
//     nopscope::context_create(task.context, task.frames, task.stack_low, task.stack_high);
//     ...
//     void switch_to(Task& to) {
//         const auto interrupts = mask();
//         nopscope::context_switch(to.context);
//         swap_stacks(to);  // from here on in the other task
//         restore(interrupts);
//     }
//
// Each has a shadow stack, so a call may be open in one while another runs, and the host has a tree
// for each: a call's total time runs on while its context does not run, its self time does not. Tasks
// give way where they want to, but never from within a callback. Without contexts, a core's calls on
// any stack but the one it named are not hooked (and counted: foreign).
#pragma once

#include "nopscope/nopscope.hpp"

#include <cstdint>
#include <span>

namespace nopscope {

// Room for one open hooked call. The first of a context's is the tracer's own.
struct alignas(64) ContextFrame {
    std::uint64_t words[8];
};

// The firmware's storage, the tracer's contents.
struct Context {
    std::uint64_t top = 0;  // of the shadow stack, while another context runs
    std::uint64_t shadow_base = 0;
    std::uint64_t frames_end = 0;
    std::uint64_t stack_low = 0;
    std::uint64_t stack_high = 0;
    std::uint64_t profiled = 0;  // Core::profiled, and the clock, when it was left
    std::uint64_t left = 0;
    std::uint64_t evented = 0;   // Core::evented, and the event counters, then
    std::uint64_t counters = 0;
    ContextFrame* frames = nullptr;
    std::uint32_t count = 0;
    std::uint32_t number = 0;  // as the host knows it; 0: a core's main context
    std::uint32_t core = 0;    // plus 1; 0: it has not run yet
    std::uint32_t below = 0;   // open calls of the functions that are traced below
    Context* next = nullptr;
};

// Any context, any core, after init(). `frames` holds one open call less than it has. SP bounds as
// in Config: the task begins with an SP below stack_high. bad_config: too few frames (2), bounds
// the wrong way round, or a context that is in use. ring_too_small: no ring has room for the
// returns of this context's calls, or all rings together lack room for those of all contexts. Give
// fewer frames, or a larger ring.
Status context_create(Context& context, std::span<ContextFrame> frames, std::uint64_t stack_low,
                      std::uint64_t stack_high);

// On the core, right before or after SP moves to the other stack; no traced function may be called
// in between, so mask interrupts if theirs are traced. It masks them itself for a few stores.
// Switching to the context that runs is nothing. conflict: a context stays on the core where it
// first ran, and must have been created. ring_too_small: this core's ring lacks room for the
// returns of all its contexts' calls. context_create() cannot know this if there are several cores.
// After an error nothing has changed: the tracer counts calls on the other stack as foreign, and
// open calls of `to` return without a record (Counters::stray_returns).
Status context_switch(Context& to);

// What the core began in. On the core.
Context& main_context();

// The task is over: its open calls end (flag `unwound`), its storage is free. On its core, not while
// it runs (conflict). A context that never ran: on any core.
Status context_destroy(Context& context);

#if !NOPSCOPE_ENABLED
inline Context no_context;  // in the image only where the firmware keeps main_context()'s address
NOPSCOPE_EMPTY Status context_create(Context&, std::span<ContextFrame>, std::uint64_t, std::uint64_t) {
    return Status::ok;
}
NOPSCOPE_EMPTY Status context_switch(Context&) { return Status::ok; }
NOPSCOPE_EMPTY Context& main_context() { return no_context; }
NOPSCOPE_EMPTY Status context_destroy(Context&) { return Status::ok; }
#endif

}  // namespace nopscope
