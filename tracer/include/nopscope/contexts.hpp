// SPDX-License-Identifier: Apache-2.0
/// \file
/// Contexts: tasks with stacks of their own, which take turns on a core.
///
///     nopscope::context_create(task.context, task.frames, task.stack_low, task.stack_high);
///     ...
///     void switch_to(Task& to) {
///         const auto interrupts = mask();
///         nopscope::context_switch(to.context);
///         swap_stacks(to);  // from here on in the other task
///         restore(interrupts);
///     }
///
/// Each context has a shadow stack, so a call may be open in one context while another runs. The
/// host shows a call tree for each. A call's total time includes the time in which its context does
/// not run; its self time does not.
///
/// A task may yield anywhere but in a callback. Without contexts, the tracer hooks only calls on
/// the stack that init() or join() named. It counts the others: Counters::off_stack.
#pragma once

#include "nopscope/nopscope.hpp"

#include <cstdint>
#include <span>

namespace nopscope {

/// Room for one open hooked call. The tracer uses the first frame of a context itself.
struct alignas(64) ContextFrame {
    std::uint64_t words[8];  ///< For the tracer.
};

/// A context. The firmware gives the storage, static or as long-lived as the task; the tracer
/// writes all fields.
struct Context {
    std::uint64_t top = 0;            ///< The shadow stack's top while another context runs.
    std::uint64_t shadow_base = 0;    ///< The shadow stack's begin.
    std::uint64_t frames_end = 0;     ///< The shadow stack's end.
    std::uint64_t stack_low = 0;      ///< The lowest SP of its stack.
    std::uint64_t stack_high = 0;     ///< The end of its stack.
    std::uint64_t profiled = 0;       ///< Time of its ended profiled calls, in 1/256 ticks.
    std::uint64_t left = 0;           ///< The clock when the core left it.
    std::uint64_t evented = 0;        ///< Events of its ended profiled calls.
    std::uint64_t counters = 0;       ///< The event counters when the core left it.
    ContextFrame* frames = nullptr;   ///< Null: the context is not in use.
    std::uint32_t count = 0;          ///< The number of `frames`.
    std::uint32_t number = 0;         ///< Its number in the recording. 0: a core's main context.
    std::uint32_t core = 0;           ///< Its core's number plus 1. 0: it has not run yet.
    std::uint32_t subtree_depth = 0;  ///< Open calls of the functions of trace_only_below().
    Context* next = nullptr;          ///< The next in the tracer's list.
};

/// \name Contexts
/// \{

/// Prepares a context for a task. Any context, on any core that has joined.
///
/// A context of n frames holds n - 1 open hooked calls. The task's stack is [stack_low,
/// stack_high); the task begins with an SP below `stack_high`.
///
/// Status::bad_config: fewer than 2 frames, `stack_low` not below `stack_high`, or a context that
/// is in use. Status::ring_too_small: no ring has room for the returns of this context's calls, or
/// all rings together lack room for those of all contexts; give fewer frames, or build with a
/// larger ring. Status::not_initialised: the core has not joined.
Status context_create(Context& context, std::span<ContextFrame> frames, std::uint64_t stack_low,
                      std::uint64_t stack_high);

/// Tells the tracer that this core continues in the context `to`. Call it on the core, right before
/// or after SP moves to the other stack. No traced function may be called in between, so mask
/// interrupts if their handlers are traced. Switching to the running context does nothing.
///
/// Status::conflict: `to` has not been created, or has run on another core; a context stays on the
/// core where it first ran. Status::ring_too_small: this core's ring lacks room for the returns of
/// all its contexts' calls, which context_create() cannot know if there are several cores.
/// Status::not_initialised: the core has not joined.
///
/// After an error nothing has changed. The tracer then counts calls on the other stack as
/// off_stack, and open calls of `to` return without a record (Counters::stray_returns).
Status context_switch(Context& to);

/// Returns the context in which this core began. Any context.
Context& main_context();

/// Ends a context: its open calls end with the flag `unwound`, and its storage is free. Call it on
/// the context's core, or on any core if the context never ran.
///
/// Status::conflict: the context is running, or belongs to another core. Status::bad_config: it has
/// not been created.
Status context_destroy(Context& context);

/// \}

#if !NOPSCOPE_ENABLED
inline Context no_context;  // in the image only if the firmware keeps main_context()'s address
NOPSCOPE_EMPTY Status context_create(Context&, std::span<ContextFrame>, std::uint64_t,
                                     std::uint64_t) {
    return Status::ok;
}
NOPSCOPE_EMPTY Status context_switch(Context&) { return Status::ok; }
NOPSCOPE_EMPTY Context& main_context() { return no_context; }
NOPSCOPE_EMPTY Status context_destroy(Context&) { return Status::ok; }
#endif

}  // namespace nopscope
