// SPDX-License-Identifier: Apache-2.0
/// \file
/// Contexts for C: tasks with stacks of their own (contexts.hpp).
///
///     const struct nopscope_context_facts facts = {.name = "worker", .priority = 2};
///     nopscope_context_create(&task->context, task->frames, 65, task->stack_low,
///                             task->stack_high, &facts);
///     ...
///     void switch_to(struct task* to) {  // interrupts are masked
///         nopscope_context_switch(&to->context, NOPSCOPE_SWITCH_REASON_UNKNOWN);
///         swap_stacks(to);  // from here on in the other task
///     }
#pragma once

#include "nopscope/nopscope.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Room for one open hooked call: the same object as nopscope::ContextFrame. The tracer uses the
/// first frame of a context itself.
struct nopscope_context_frame {
    NOPSCOPE_ALIGN(64) uint64_t words[8];  ///< For the tracer.
};

/// A context: the same object as nopscope::Context. The firmware gives the storage, all zero at
/// first, static or as long-lived as the task. The tracer writes all fields.
struct nopscope_context {
    uint64_t top;                           ///< The shadow stack's top while another context runs.
    uint64_t shadow_base;                   ///< The shadow stack's begin.
    uint64_t frames_end;                    ///< The shadow stack's end.
    uint64_t stack_low;                     ///< The lowest SP of its stack.
    uint64_t stack_high;                    ///< The end of its stack.
    uint64_t lowest_sp;                     ///< The lowest SP of its hooked calls so far.
    uint64_t profiled;                      ///< Time of its ended profiled calls, in 1/256 ticks.
    uint64_t left;                          ///< The clock when the core left it.
    uint64_t evented;                       ///< Events of its ended profiled calls.
    uint64_t counters;                      ///< The event counters when the core left it.
    struct nopscope_context_frame* frames;  ///< Null: the context is not in use.
    uint32_t count;                         ///< The number of `frames`.
    uint32_t number;                        ///< Its number in the recording. 0: a main context.
    uint32_t core;                          ///< Its core's number plus 1. 0: it has not run yet.
    uint32_t subtree_depth;         ///< Open calls of nopscope_trace_only_below()'s functions.
    struct nopscope_context* next;  ///< The next in the tracer's list.
    uint64_t unguarded;             ///< For the tracer, while another context runs.
    uint64_t recorded;              ///< Its last records: their core, and the index behind them.
    uint64_t pc;                    ///< Where an interrupt switched away from it; 0: elsewhere.
    uint32_t tracer_depth;          ///< For the tracer, while another context runs.
    uint32_t tracer_marked;         ///< As `tracer_depth`.
    uint32_t recorded_on;           ///< That core's number plus 1. 0: it has no record.
    bool guarded;                   ///< It has taken the guard, and another context runs.
    bool awaited;                   ///< A request waits until it has left the tracer's code.
    bool told;                      ///< The host has been sent the following.
    bool interrupts;                ///< nopscope_context_facts::interrupts
    uint64_t id;                    ///< nopscope_context_facts::id
    uint32_t priority;              ///< nopscope_context_facts::priority
    char name[32];                  ///< nopscope_context_facts::name
};

/// What the host is told of a context: nopscope::ContextFacts.
struct nopscope_context_facts {
    const char* name;   ///< Ends with a zero byte. The first 31 bytes are copied.
    uint32_t priority;  ///< In the RTOS's order.
    uint64_t id;        ///< The RTOS's number or handle of the task.
    bool interrupts;    ///< Interrupt handlers run on its stack.
};

/// Why a core leaves a context: nopscope::SwitchReason.
enum nopscope_switch_reason {
    NOPSCOPE_SWITCH_REASON_UNKNOWN,    ///< SwitchReason::unknown
    NOPSCOPE_SWITCH_REASON_PREEMPTED,  ///< SwitchReason::preempted
    NOPSCOPE_SWITCH_REASON_BLOCKED,    ///< SwitchReason::blocked
    NOPSCOPE_SWITCH_REASON_GAVE_WAY,   ///< SwitchReason::gave_way
    NOPSCOPE_SWITCH_REASON_ENDED,      ///< SwitchReason::ended
};

/// What happens to a context, beside switches: nopscope::ContextEvent.
enum nopscope_context_event {
    NOPSCOPE_CONTEXT_EVENT_READY = 2,  ///< ContextEvent::ready
    NOPSCOPE_CONTEXT_EVENT_TAKES = 3,  ///< ContextEvent::takes
    NOPSCOPE_CONTEXT_EVENT_GIVES = 4,  ///< ContextEvent::gives
    NOPSCOPE_CONTEXT_EVENT_WAITS = 5,  ///< ContextEvent::waits
};

/// \name Contexts
/// \{

/// Prepares a context for a task: nopscope::context_create(). `count` frames hold `count` - 1 open
/// hooked calls. `facts` may be null.
NOPSCOPE_API enum nopscope_status nopscope_context_create(
    struct nopscope_context* context, struct nopscope_context_frame* frames, size_t count,
    uint64_t stack_low, uint64_t stack_high, const struct nopscope_context_facts* facts);
/// Tells the tracer that this core continues in the context `to`: nopscope::context_switch(). Mask
/// interrupts from here until SP has moved to the other stack.
NOPSCOPE_API enum nopscope_status nopscope_context_switch(struct nopscope_context* to,
                                                          enum nopscope_switch_reason why);
/// Sets what the host is told of a context: nopscope::context_describe().
NOPSCOPE_API void nopscope_context_describe(struct nopscope_context* context,
                                            const struct nopscope_context_facts* facts);
/// Records an event of contexts: nopscope::context_event().
NOPSCOPE_API void nopscope_context_event(enum nopscope_context_event what, uint64_t subject);
/// Sets the name of an object that events name: nopscope::name_object().
NOPSCOPE_API bool nopscope_name_object(uint64_t id, const char* name);
/// Returns the context in which this core began: nopscope::main_context().
NOPSCOPE_API struct nopscope_context* nopscope_main_context(void);
/// Ends a context: nopscope::context_destroy().
NOPSCOPE_API enum nopscope_status nopscope_context_destroy(struct nopscope_context* context);

/// \}

#if !NOPSCOPE_ENABLED
NOPSCOPE_EMPTY enum nopscope_status nopscope_context_create(
    struct nopscope_context* context, struct nopscope_context_frame* frames, size_t count,
    uint64_t stack_low, uint64_t stack_high, const struct nopscope_context_facts* facts) {
    (void)context, (void)frames, (void)count, (void)stack_low, (void)stack_high, (void)facts;
    return NOPSCOPE_OK;
}
NOPSCOPE_EMPTY enum nopscope_status nopscope_context_switch(struct nopscope_context* to,
                                                            enum nopscope_switch_reason why) {
    (void)to, (void)why;
    return NOPSCOPE_OK;
}
NOPSCOPE_EMPTY void nopscope_context_describe(struct nopscope_context* context,
                                              const struct nopscope_context_facts* facts) {
    (void)context, (void)facts;
}
NOPSCOPE_EMPTY void nopscope_context_event(enum nopscope_context_event what, uint64_t subject) {
    (void)what, (void)subject;
}
NOPSCOPE_EMPTY bool nopscope_name_object(uint64_t id, const char* name) {
    (void)id, (void)name;
    return true;
}
NOPSCOPE_EMPTY struct nopscope_context* nopscope_main_context(void) {
    static struct nopscope_context none;  // in the image only if the firmware keeps its address
    return &none;
}
NOPSCOPE_EMPTY enum nopscope_status nopscope_context_destroy(struct nopscope_context* context) {
    (void)context;
    return NOPSCOPE_OK;
}
#endif

#ifdef __cplusplus
}
#endif
