// SPDX-License-Identifier: Apache-2.0
/// \file
/// Contexts: tasks with stacks of their own, which take turns on a core.
///
///     nopscope::context_create(task.context, task.frames, task.stack_low, task.stack_high,
///                              {.name = "worker", .priority = 2});
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
/// A task may yield anywhere but in a callback. An interrupt may switch tasks anywhere, if the
/// tracer was built with NOPSCOPE_DEFER_INTERRUPTS (nopscope/defer.h). Without contexts, the tracer
/// hooks only calls on the stack that init() or join() named. It counts the others:
/// Counters::off_stack.
#pragma once

#include "nopscope/nopscope.hpp"

#include <cstdint>
#include <span>

namespace nopscope {

/// Room for one open hooked call. The tracer uses the first frame of a context itself.
struct alignas(64) ContextFrame {
    std::uint64_t words[8] = {};  ///< For the tracer.
};

/// A context. The firmware gives the storage, static or as long-lived as the task; the tracer
/// writes all fields.
struct Context {
    std::uint64_t top = 0;            ///< The shadow stack's top while another context runs.
    std::uint64_t shadow_base = 0;    ///< The shadow stack's begin.
    std::uint64_t frames_end = 0;     ///< The shadow stack's end.
    std::uint64_t stack_low = 0;      ///< The lowest SP of its stack.
    std::uint64_t stack_high = 0;     ///< The end of its stack.
    std::uint64_t lowest_sp = 0;      ///< The lowest SP of its hooked calls so far.
    std::uint64_t profiled = 0;       ///< Time of its ended profiled calls, in 1/256 ticks.
    std::uint64_t left = 0;           ///< The clock when the core left it.
    std::uint64_t evented = 0;        ///< Events of its ended profiled calls.
    std::uint64_t counters = 0;       ///< The event counters when the core left it.
    ContextFrame* frames = nullptr;   ///< Null: the context is not in use.
    std::uint32_t count = 0;          ///< The number of `frames`.
    std::uint32_t number = 0;         ///< Its number in the recording. 0: a core's main context.
    std::uint32_t core = 0;           ///< Where it runs or last ran, plus 1. 0: it has not run.
    std::uint32_t subtree_depth = 0;  ///< Open calls of the functions of trace_only_below().
    Context* next = nullptr;          ///< The next in the tracer's list.
    std::uint64_t unguarded = 0;      ///< For the tracer, while another context runs.
    std::uint64_t recorded = 0;       ///< Its last records: their core, and the index behind them.
    std::uint64_t pc = 0;             ///< Where an interrupt switched away from it; 0: elsewhere.
    std::uint32_t tracer_depth = 0;   ///< How deep the tracer works in it.
    std::uint32_t tracer_marked = 0;  ///< Not 0: the ring has the begin of that work.
    std::uint32_t recorded_on = 0;    ///< That core's number plus 1. 0: it has no record.
    bool guarded = false;             ///< It has taken the guard, and another context runs.
    bool awaited = false;             ///< A request waits until it has left the tracer's code.
    bool told = false;                ///< The host has been sent the following.
    bool interrupts = false;          ///< ContextFacts::interrupts
    std::uint64_t id = 0;             ///< ContextFacts::id
    std::uint32_t priority = 0;       ///< ContextFacts::priority
    char name[32] = {};               ///< ContextFacts::name
};

/// What the host is told of a context.
struct ContextFacts {
    const char* name = nullptr;  ///< Ends with a zero byte. The first 31 bytes are copied.
    std::uint32_t priority = 0;  ///< In the RTOS's order.
    std::uint64_t id = 0;        ///< The RTOS's number or handle of the task.
    bool interrupts = false;     ///< Interrupt handlers run on its stack.
};

/// Why a core leaves a context.
enum class SwitchReason : std::uint8_t {
    unknown,    ///< The firmware does not say.
    preempted,  ///< Another one came first, or its slice was over: it could have run on.
    blocked,    ///< It waits for something.
    gave_way,   ///< It could have run on, and let others run.
    ended,      ///< It will not run again.
};

/// What happens to a context, beside switches.
enum class ContextEvent : std::uint8_t {
    ready = 2,  ///< A context may run from now on. Subject: its Context::number.
    takes = 3,  ///< The running context takes an object. Subject: a number or address of it.
    gives = 4,  ///< It gives an object back, or puts something into it.
    waits = 5,  ///< It has to wait for an object.
};

/// \name Contexts
/// \{

/// Prepares a context for a task. Any context, on any core that has joined.
///
/// A context of n frames holds n - 1 open hooked calls. The task's stack is [stack_low,
/// stack_high); the task begins with an SP below `stack_high`.
///
/// Status::bad_config: fewer than 2 frames, `stack_low` not below `stack_high`, or a context that
/// is in use. Status::ring_too_small: half a ring has no room for the returns of all contexts'
/// calls, which may end on any core; give fewer frames, or build with a larger ring.
/// Status::not_initialised: the core has not joined.
///
/// `facts`: what the host is told of it; context_describe() changes that.
Status context_create(Context& context, std::span<ContextFrame> frames, std::uint64_t stack_low,
                      std::uint64_t stack_high, const ContextFacts& facts = {});

/// Tells the tracer that this core continues in the context `to`. Call it on the core, right before
/// or after SP moves to the other stack. No traced function may be called in between, so mask
/// interrupts if their handlers are traced. Switching to the running context does nothing.
///
/// A context may go on on another core, once the core that it leaves has switched to another
/// context and has saved the task's registers. Its open calls then return on the new core.
///
/// Status::conflict: `to` has not been created, or runs on another core, or is another core's main
/// context. Status::not_initialised: the core has not joined.
///
/// After an error nothing has changed. The tracer then counts calls on the other stack as
/// off_stack, and open calls of `to` return without a record (Counters::stray_returns).
///
/// `why`: why the core leaves the running context. With a reason, a switch is two records.
Status context_switch(Context& to, SwitchReason why = SwitchReason::unknown);

/// Sets what the host is told of a context that has been created, or of a main context. Call it
/// again when something has changed. Any context.
void context_describe(Context& context, const ContextFacts& facts);

/// Records an event of contexts. It does not wait for room in the ring: without room, the tracer
/// drops the record and counts it. While recording is stopped, it does nothing. Any context.
void context_event(ContextEvent what, std::uint64_t subject);

/// Sets the name of an object that events name, or removes it (null). The first 31 bytes are
/// copied. False: there is no room for one more (NOPSCOPE_OBJECT_NAMES, 32). Any context.
bool name_object(std::uint64_t id, const char* name);

/// Returns the context in which this core began. Any context.
Context& main_context();

/// Ends a context: its open calls end with the flag `unwound`, and its storage is free. Call it on
/// any core that has joined.
///
/// Status::conflict: the context is running. Status::bad_config: it has not been created.
Status context_destroy(Context& context);

/// \}

#if !NOPSCOPE_ENABLED
inline Context no_context;  // in the image only if the firmware keeps main_context()'s address
NOPSCOPE_EMPTY Status context_create(Context&, std::span<ContextFrame>, std::uint64_t,
                                     std::uint64_t, const ContextFacts&) {
    return Status::ok;
}
NOPSCOPE_EMPTY Status context_switch(Context&, SwitchReason) { return Status::ok; }
NOPSCOPE_EMPTY void context_describe(Context&, const ContextFacts&) {}
NOPSCOPE_EMPTY void context_event(ContextEvent, std::uint64_t) {}
NOPSCOPE_EMPTY bool name_object(std::uint64_t, const char*) { return true; }
NOPSCOPE_EMPTY Context& main_context() { return no_context; }
NOPSCOPE_EMPTY Status context_destroy(Context&) { return Status::ok; }
#endif

}  // namespace nopscope
