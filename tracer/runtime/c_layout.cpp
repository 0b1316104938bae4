// SPDX-License-Identifier: Apache-2.0
// Asserts that the C headers have the same values and objects as those of C++.
// tests/rules/c_api_rules.py fails if an enumerator, or a field of an object here, has no line.
#include "nopscope/nopscope.h"

#include "nopscope/contexts.hpp"
#include "nopscope/events.hpp"
#include "nopscope/return_ops.hpp"
#include "nopscope/samples.hpp"
#include "nopscope/triggers.hpp"
#include "tracer/arch/machine.hpp"

namespace nopscope {

#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // ReturnOps and Trigger derive from Ops

#define SAME_VALUE(c, cpp) static_assert(static_cast<int>(c) == static_cast<int>(cpp))
SAME_VALUE(NOPSCOPE_OK, Status::ok);
SAME_VALUE(NOPSCOPE_MMU_OR_CACHE_OFF, Status::mmu_or_cache_off);
SAME_VALUE(NOPSCOPE_NO_SITES, Status::no_sites);
SAME_VALUE(NOPSCOPE_ALREADY_INITIALISED, Status::already_initialised);
SAME_VALUE(NOPSCOPE_NOT_INITIALISED, Status::not_initialised);
SAME_VALUE(NOPSCOPE_UNKNOWN_FUNCTION, Status::unknown_function);
SAME_VALUE(NOPSCOPE_NO_NAMES, Status::no_names);
SAME_VALUE(NOPSCOPE_UNEXPECTED_TEXT, Status::unexpected_text);
SAME_VALUE(NOPSCOPE_OUT_OF_REACH, Status::out_of_reach);
SAME_VALUE(NOPSCOPE_TOO_MANY, Status::too_many);
SAME_VALUE(NOPSCOPE_CONFLICT, Status::conflict);
SAME_VALUE(NOPSCOPE_TIMEOUT, Status::timeout);
SAME_VALUE(NOPSCOPE_NO_PROFILE_MEMORY, Status::no_profile_memory);
SAME_VALUE(NOPSCOPE_BAD_CONFIG, Status::bad_config);
SAME_VALUE(NOPSCOPE_WRONG_LEVEL, Status::wrong_level);
SAME_VALUE(NOPSCOPE_WRONG_MEMORY, Status::wrong_memory);
SAME_VALUE(NOPSCOPE_TEXT_NOT_WRITABLE, Status::text_not_writable);
SAME_VALUE(NOPSCOPE_CORES_RUNNING, Status::cores_running);
SAME_VALUE(NOPSCOPE_EVENTS_REFUSED, Status::events_refused);
SAME_VALUE(NOPSCOPE_RING_TOO_SMALL, Status::ring_too_small);
SAME_VALUE(NOPSCOPE_NOT_DEFERRED, Status::not_deferred);
SAME_VALUE(NOPSCOPE_NO_RECORDER, Recorder::none);
SAME_VALUE(NOPSCOPE_FUNCTION, Recorder::function);
SAME_VALUE(NOPSCOPE_GRAPH, Recorder::graph);
SAME_VALUE(NOPSCOPE_PROFILE, Recorder::profile);
SAME_VALUE(NOPSCOPE_DURATION, Recorder::duration);
SAME_VALUE(NOPSCOPE_SAMPLED, Recorder::sampled);
SAME_VALUE(NOPSCOPE_STREAM, Mode::stream);
SAME_VALUE(NOPSCOPE_LOSSLESS, Mode::lossless);
SAME_VALUE(NOPSCOPE_FLIGHT, Mode::flight);
SAME_VALUE(NOPSCOPE_ADAPTIVE, Mode::adaptive);
SAME_VALUE(NOPSCOPE_OPS_REDIRECTS, OpsFlags::ops_redirects);
SAME_VALUE(NOPSCOPE_OPS_UNGUARDED, OpsFlags::ops_unguarded);
SAME_VALUE(NOPSCOPE_EVENT_REFUSAL_NONE, protocol::EventRefusal::none);
SAME_VALUE(NOPSCOPE_EVENT_REFUSAL_NO_PMU, protocol::EventRefusal::no_pmu);
SAME_VALUE(NOPSCOPE_EVENT_REFUSAL_TOO_FEW_COUNTERS, protocol::EventRefusal::too_few_counters);
SAME_VALUE(NOPSCOPE_EVENT_REFUSAL_ABSENT, protocol::EventRefusal::absent);
SAME_VALUE(NOPSCOPE_EVENT_REFUSAL_TOO_MANY, protocol::EventRefusal::too_many);
SAME_VALUE(NOPSCOPE_EVENT_REFUSAL_RECORDER, protocol::EventRefusal::recorder);
SAME_VALUE(NOPSCOPE_EVENT_REFUSAL_MODE, protocol::EventRefusal::mode);
SAME_VALUE(NOPSCOPE_EVENT_REFUSAL_RING_TOO_SMALL, protocol::EventRefusal::ring_too_small);
SAME_VALUE(NOPSCOPE_EVENT_REFUSAL_TWICE, protocol::EventRefusal::twice);
SAME_VALUE(NOPSCOPE_ACTION_START, Action::start);
SAME_VALUE(NOPSCOPE_ACTION_STOP, Action::stop);
SAME_VALUE(NOPSCOPE_ACTION_SNAPSHOT, Action::snapshot);
SAME_VALUE(NOPSCOPE_MAX_SAMPLED_ADDRESSES, max_sampled_addresses);

#define SAME_TYPE(c, cpp) static_assert(sizeof(c) == sizeof(cpp) && alignof(c) == alignof(cpp))
#define SAME_PLACE(c, cpp, member)                                \
    static_assert(offsetof(c, member) == offsetof(cpp, member) && \
                  sizeof(decltype(c::member)) == sizeof(decltype(cpp::member)))
SAME_TYPE(nopscope_regs, Regs);
SAME_PLACE(nopscope_regs, Regs, x);
SAME_PLACE(nopscope_regs, Regs, fp);
SAME_PLACE(nopscope_regs, Regs, lr);
SAME_PLACE(nopscope_regs, Regs, sp);
SAME_PLACE(nopscope_regs, Regs, pc);
SAME_TYPE(nopscope_ops, Ops);
SAME_PLACE(nopscope_ops, Ops, func);
SAME_PLACE(nopscope_ops, Ops, direct);
SAME_PLACE(nopscope_ops, Ops, user);
SAME_PLACE(nopscope_ops, Ops, flags);
SAME_PLACE(nopscope_ops, Ops, sites);
SAME_PLACE(nopscope_ops, Ops, unguarded);
SAME_PLACE(nopscope_ops, Ops, data);
SAME_TYPE(nopscope_site_profile, SiteProfile);
SAME_PLACE(nopscope_site_profile, SiteProfile, calls);
SAME_PLACE(nopscope_site_profile, SiteProfile, total);
SAME_PLACE(nopscope_site_profile, SiteProfile, self);
SAME_PLACE(nopscope_site_profile, SiteProfile, min);
SAME_PLACE(nopscope_site_profile, SiteProfile, max);
SAME_PLACE(nopscope_site_profile, SiteProfile, bins);
SAME_VALUE(NOPSCOPE_SWITCH_REASON_UNKNOWN, SwitchReason::unknown);
SAME_VALUE(NOPSCOPE_SWITCH_REASON_PREEMPTED, SwitchReason::preempted);
SAME_VALUE(NOPSCOPE_SWITCH_REASON_BLOCKED, SwitchReason::blocked);
SAME_VALUE(NOPSCOPE_SWITCH_REASON_GAVE_WAY, SwitchReason::gave_way);
SAME_VALUE(NOPSCOPE_SWITCH_REASON_ENDED, SwitchReason::ended);
SAME_VALUE(NOPSCOPE_CONTEXT_EVENT_READY, ContextEvent::ready);
SAME_VALUE(NOPSCOPE_CONTEXT_EVENT_TAKES, ContextEvent::takes);
SAME_VALUE(NOPSCOPE_CONTEXT_EVENT_GIVES, ContextEvent::gives);
SAME_VALUE(NOPSCOPE_CONTEXT_EVENT_WAITS, ContextEvent::waits);
SAME_TYPE(nopscope_context_frame, ContextFrame);
SAME_PLACE(nopscope_context_frame, ContextFrame, words);
SAME_TYPE(nopscope_context, Context);
SAME_PLACE(nopscope_context, Context, top);
SAME_PLACE(nopscope_context, Context, shadow_base);
SAME_PLACE(nopscope_context, Context, frames_end);
SAME_PLACE(nopscope_context, Context, stack_low);
SAME_PLACE(nopscope_context, Context, stack_high);
SAME_PLACE(nopscope_context, Context, lowest_sp);
SAME_PLACE(nopscope_context, Context, profiled);
SAME_PLACE(nopscope_context, Context, left);
SAME_PLACE(nopscope_context, Context, evented);
SAME_PLACE(nopscope_context, Context, counters);
SAME_PLACE(nopscope_context, Context, frames);
SAME_PLACE(nopscope_context, Context, count);
SAME_PLACE(nopscope_context, Context, number);
SAME_PLACE(nopscope_context, Context, core);
SAME_PLACE(nopscope_context, Context, subtree_depth);
SAME_PLACE(nopscope_context, Context, next);
SAME_PLACE(nopscope_context, Context, unguarded);
SAME_PLACE(nopscope_context, Context, pc);
SAME_PLACE(nopscope_context, Context, tracer_depth);
SAME_PLACE(nopscope_context, Context, tracer_marked);
SAME_PLACE(nopscope_context, Context, recorded);
SAME_PLACE(nopscope_context, Context, recorded_on);
SAME_PLACE(nopscope_context, Context, guarded);
SAME_PLACE(nopscope_context, Context, awaited);
SAME_PLACE(nopscope_context, Context, told);
SAME_PLACE(nopscope_context, Context, interrupts);
SAME_PLACE(nopscope_context, Context, id);
SAME_PLACE(nopscope_context, Context, priority);
SAME_PLACE(nopscope_context, Context, name);
SAME_TYPE(nopscope_site_events, SiteEvents);
SAME_PLACE(nopscope_site_events, SiteEvents, calls);
SAME_PLACE(nopscope_site_events, SiteEvents, total);
SAME_PLACE(nopscope_site_events, SiteEvents, self);
SAME_TYPE(nopscope_call_data, CallData);
SAME_PLACE(nopscope_call_data, CallData, words);
SAME_TYPE(nopscope_return_regs, ReturnRegs);
SAME_PLACE(nopscope_return_regs, ReturnRegs, x);
SAME_PLACE(nopscope_return_regs, ReturnRegs, sp);
SAME_TYPE(nopscope_return_ops, ReturnOps);
static_assert(offsetof(nopscope_return_ops, ops) == 0);
SAME_PLACE(nopscope_return_ops, ReturnOps, entry);
SAME_PLACE(nopscope_return_ops, ReturnOps, exit);
SAME_TYPE(nopscope_trigger, Trigger);
static_assert(offsetof(nopscope_trigger, ops) == 0);
SAME_PLACE(nopscope_trigger, Trigger, left);
SAME_PLACE(nopscope_trigger, Trigger, id);
SAME_PLACE(nopscope_trigger, Trigger, action);
SAME_TYPE(nopscope_interruption, Interruption);
SAME_PLACE(nopscope_interruption, Interruption, x);
SAME_PLACE(nopscope_interruption, Interruption, sp);
SAME_PLACE(nopscope_interruption, Interruption, pc);
SAME_TYPE(nopscope_interrupted, Interrupted);
SAME_PLACE(nopscope_interrupted, Interrupted, core);
SAME_PLACE(nopscope_interrupted, Interrupted, pc);
SAME_PLACE(nopscope_interrupted, Interrupted, depth);

}  // namespace nopscope
