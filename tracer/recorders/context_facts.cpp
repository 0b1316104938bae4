// SPDX-License-Identifier: Apache-2.0
// What the firmware tells of contexts and objects, beside switches.
#include "tracer/core/here.hpp"
#include "tracer/recorders/task_sender.hpp"

namespace nopscope {

constinit TaskSender task_sender;

namespace {

constinit Machine machine;

}  // namespace

void context_describe(Context& context, const ContextFacts& facts) {
    const Locked locked(machine, all_contexts.lock);
    task_sender.describe(context, facts);
}

bool name_object(std::uint64_t id, const char* name) {
    const Locked locked(machine, all_contexts.lock);
    return task_sender.name(id & protocol::data_mask, name);
}

void context_event(ContextEvent what, std::uint64_t subject) {
    const Here here;
    Core* const core = here.joined();
    if (core == nullptr || is_stopped(*core)) return;
    const auto fact = static_cast<protocol::TaskFact>(what);
    const std::uint64_t data[] = {subject};
    const bool put = put_in_context(
        machine, *core,
        [&](std::uint64_t limit) {
            return ring_put_many(
                machine, *core,
                protocol::make_extended(protocol::Extended::task, protocol::task_argument(fact, 1)),
                data, limit);
        },
        interrupt_limit);
    if (!put) add_one(core->dropped);
}

static_assert(static_cast<unsigned>(ContextEvent::ready) ==
                  static_cast<unsigned>(protocol::TaskFact::ready) &&
              static_cast<unsigned>(ContextEvent::takes) ==
                  static_cast<unsigned>(protocol::TaskFact::takes) &&
              static_cast<unsigned>(ContextEvent::gives) ==
                  static_cast<unsigned>(protocol::TaskFact::gives) &&
              static_cast<unsigned>(ContextEvent::waits) ==
                  static_cast<unsigned>(protocol::TaskFact::waits));

}  // namespace nopscope
