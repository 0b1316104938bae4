// SPDX-License-Identifier: Apache-2.0
#include "nopscope/events.hpp"

#include "tracer/arch/machine.hpp"
#include "tracer/arch/messages.hpp"
#include "tracer/arch/pmu.hpp"
#include "tracer/arch/system.hpp"
#include "tracer/core/here.hpp"
#include "tracer/core/ring.hpp"
#include "tracer/recorders/event_choice.hpp"
#include "tracer/recorders/profile_sender.hpp"

namespace nopscope {
namespace {

constinit Machine machine;
constinit EventSet chosen{};
constinit EventsRefusal refusal{};
constinit std::uint16_t last_choice = 0;

Status refuse(protocol::EventRefusal why, std::uint16_t event = 0, unsigned counters = 0) {
    refusal = {why, event, static_cast<std::uint8_t>(counters)};
    return Status::events_refused;
}

struct Wanted {
    std::span<const std::uint16_t> numbers;
    EventsRefusal refusal;
};

// Checks whether this core can count the events. Cores may write at once: they write the same.
void check_here(Wanted& wanted) {
    using protocol::EventRefusal;
    if (!arch::has_cycle_counter()) {
        wanted.refusal.why = EventRefusal::no_pmu;
    } else if (arch::event_counters() < protocol::max_events) {
        wanted.refusal = {EventRefusal::too_few_counters, 0,
                          static_cast<std::uint8_t>(arch::event_counters())};
    } else {
        for (const std::uint16_t number : wanted.numbers) {
            if (!arch::has_event(number)) wanted.refusal = {EventRefusal::absent, number, 0};
        }
    }
}

// Interrupts are masked, so nothing is recorded in between.
void follow_choice(Core& core) {
    core.events = core.profile_events = chosen.word;
    if (!chosen.any()) return;
    arch::start_counters(protocol::event_of(chosen.argument(), 0),
                         protocol::event_of(chosen.argument(), 1), chosen.count());
}

bool has_room(std::uint64_t reserve) { return (reserve + own_reserve_bytes) * 2 <= ring_bytes; }
std::uint64_t reserve_for(const Core& core, std::uint64_t return_bytes) {
    return core.reserve / core.return_bytes * return_bytes;
}

// Runs follow_choice() on all cores. False: a core did not answer.
bool follow_everywhere() {
    count_events_here();
    return machine.run_on_other_cores(
        [](void*, const Interrupted&) {
            if (Core* const core = joined_core()) follow_choice(*core);
        },
        nullptr);
}

}  // namespace

EventSet events_chosen() { return chosen; }

Status check_events(std::span<const std::uint16_t> numbers) {
    if (numbers.size() > protocol::max_events) return refuse(protocol::EventRefusal::too_many);
    if (numbers.size() == 2 && numbers[0] == numbers[1]) {
        return refuse(protocol::EventRefusal::twice, numbers[0]);
    }
    Wanted wanted{numbers, {}};
    check_here(wanted);
    machine.run_on_other_cores(
        [](void* wanted, const Interrupted&) {
            if (joined_core() != nullptr) check_here(*static_cast<Wanted*>(wanted));
        },
        &wanted);
    if (wanted.refusal.why != protocol::EventRefusal::none) {
        return refuse(wanted.refusal.why, wanted.refusal.event, wanted.refusal.counters);
    }
    for (const Core& core : all_cores()) {
        if (!has_room(reserve_for(core, (2 + numbers.size()) * record_bytes))) {
            return refuse(protocol::EventRefusal::ring_too_small);
        }
    }
    return Status::ok;
}
Status refuse_events(protocol::EventRefusal why) { return refuse(why); }

// Makes room first, so that each core that sees the new events has room for them.
bool choose_events(std::span<const std::uint16_t> numbers) {
    if (!numbers.empty()) {
        do ++last_choice;
        while (last_choice == 0 || last_choice == 0xffff);
    }
    const EventSet next = numbers.empty() ? EventSet{} : EventSet::of(numbers, last_choice);
    const auto make_room = [next] {
        for (Core& core : all_cores()) {
            const Locked locked(machine, core.context_lock);
            core.reserve = reserve_for(core, next.return_bytes());
            core.return_bytes = next.return_bytes();
            ring_set_limit_locked(machine, core);
        }
    };
    if (next.any()) make_room();
    chosen = next;
    if (next.any()) profile_sender.count(next);
    const bool all_follow = follow_everywhere();
    if (!next.any()) make_room();
    return all_follow;
}

void count_events_here() {
    const std::uint64_t interrupts = machine.mask_interrupts();
    follow_choice(*joined_core());
    machine.restore_interrupts(interrupts);
}

EventsRefusal events_refusal() { return refusal; }

const char* describe(protocol::EventRefusal why) {
    using protocol::EventRefusal;
    switch (why) {
    case EventRefusal::none: return "ok";
    case EventRefusal::no_pmu: return arch::no_pmu_text;
    case EventRefusal::too_few_counters: return arch::too_few_counters_text;
    case EventRefusal::absent: return arch::absent_event_text;
    case EventRefusal::too_many: return "at most two events can be counted";
    case EventRefusal::recorder:
        return "only the graph and the profile recorder count events, and another one is in use";
    case EventRefusal::mode: return "events are not counted in adaptive mode";
    case EventRefusal::ring_too_small:
        return "the ring has no room for all open calls' returns with their events";
    case EventRefusal::twice: return "the same event is named twice";
    }
    return "unknown";
}

bool read_profile_events(std::uint32_t index, unsigned core, SiteEvents& out) {
    if (!profile_memory.made() || index >= site_count() || core >= profile_memory.cores()) {
        return false;
    }
    const ProfileCell& cell = profile_memory.cell(core, index);
    out.calls = cell.counted;
    for (unsigned n = 0; n < protocol::max_events; ++n) {
        out.total[n] = cell.events[n].total;
        out.self[n] = cell.events[n].self;
    }
    return true;
}

}  // namespace nopscope
