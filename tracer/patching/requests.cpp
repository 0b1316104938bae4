// SPDX-License-Identifier: Apache-2.0
// The image's sites, and the requests that change what they do, one at a time.
#include "tracer/patching/requests.hpp"
#include "nopscope/return_ops.hpp"
#include "tracer/arch/deferral.hpp"
#include "tracer/arch/hook_forms.hpp"
#include "tracer/arch/patch_site.hpp"
#include "tracer/arch/system.hpp"
#include "tracer/core/guard.hpp"
#include "tracer/core/here.hpp"
#include "tracer/core/hooks.hpp"
#include "tracer/core/image.hpp"
#include "tracer/patching/patcher.hpp"
#include "tracer/patching/request_lock.hpp"
#include "tracer/patching/site_name_filter.hpp"
#include "tracer/recorders/event_choice.hpp"
#include "tracer/recorders/open_calls.hpp"
#include "tracer/recorders/profile.hpp"
#include "tracer/stream/board_pump.hpp"

#include <algorithm>
#include <iterator>

namespace nopscope {

namespace {

// The callback of `none_ops` (the object of sites without ops) and of an ops without a callback.
void no_callback(std::uint64_t, std::uint64_t, Ops*, Regs*) {}

constinit Machine machine;
constinit protocol::NameTable names;
constinit Ops none_ops{.func = no_callback, .unguarded = no_callback};
// prepare_sites() sets their entries, because an address is not a constant expression in every ABI.
constinit Ops function_ops, graph_ops, duration_ops, sampled_ops, no_profile_ops, graph_events_ops,
    parked_ops;
// By Recorder, minus 1. The profile's family has no ops until prepare_profile().
constinit PerSiteOps recorders[] = {PerSiteOps::of(function_ops), PerSiteOps::of(graph_ops),
                                    PerSiteOps::of(no_profile_ops), PerSiteOps::of(duration_ops),
                                    PerSiteOps::of(sampled_ops)};
PerSiteOps& family_of(Recorder recorder) { return recorders[static_cast<unsigned>(recorder) - 1]; }
bool is_in_use(Recorder recorder) { return family_of(recorder).first->sites != 0; }
bool counts_events(Recorder recorder) {
    return recorder == Recorder::none || recorder == Recorder::graph ||
           recorder == Recorder::profile;
}
constinit Patcher<Machine> patcher(machine, sites, none_ops);
constinit RequestLock<Machine> request_lock(machine);
constinit Recorder last_recorder = Recorder::graph;
constinit Adaptation adaptation{[] { return false; }, [] { return std::uint32_t{0}; },
                                [](std::uint32_t, std::uint32_t) {}};

// Code in use that reads slots without taking a guard (quiescence.hpp), and the way there.
class UnguardedCode {
public:
    UnguardedCode(bool far, bool profile) {
        if (far || profile) add(way_to_entries());
        if (far) add({address_of(nopscope_far), address_of(nopscope_far_end)});
        // Both entries, and the hook that counts events. The hook reads no slot, but count_events()
        // must wait for it, too.
        if (profile)
            add({address_of(nopscope_profile_entry), address_of(nopscope_profile_events_hook_end)});
    }
    std::span<const CodeRange> all() const { return {code_, count_}; }

private:
    void add(CodeRange code) {
        if (code.begin != code.end) code_[count_++] = code;
    }
    CodeRange code_[3];
    std::size_t count_ = 0;
};

// Where interrupts are deferred, no core and no task is ever seen inside such code.
UnguardedCode unmarked_code() {
    if (arch::defers_interrupts) return {false, false};
    return {patcher.uses_far(), profile_memory.made()};
}
bool is_unmarked(std::uint64_t pc) {
    for (const auto& code : unmarked_code().all()) {
        if (code.contains(pc)) return true;
    }
    return false;
}
bool wait_until_quiescent() {
    const UnguardedCode unmarked = unmarked_code();
    const auto contexts = [](bool first) { return await_contexts(first, is_unmarked); };
    return Quiescence<Machine>(machine, all_cores(), unmarked.all(), contexts)
        .wait(machine.clock() + hello.clock_hz, while_waiting);
}

Status change_sets(const Change& change, SiteNameFilter&& selection) {
    Status status = selection.status();
    if (status != Status::ok) return status;
    bool quiescent = true;
    status = patcher.change(
        change, [&](auto visit) { selection.for_each_run(visit); },
        [&] { return quiescent = wait_until_quiescent(); });
    return status == Status::ok && !quiescent ? Status::timeout : status;
}

bool is_traced_by(const PerSiteOps& family, std::uint32_t index) {
    bool found = false;
    patcher.for_each_ops(index, [&](Ops& ops) { found |= &ops == family.at(index); });
    return found;
}
// Replaces `from` by `to` on all its sites and loses no call. Then stores `to` in `from`.
Status replace(PerSiteOps& from, const PerSiteOps& to) {
    const PerSiteOps old = from;
    const auto is_concerned = [&](std::uint32_t index) {
        return sites.usable(index) && (is_traced_by(old, index) || is_traced_by(to, index));
    };
    const auto for_each_run = [&](auto visit) {
        for (std::uint32_t first = 0; first < sites.size(); ++first) {
            if (!is_concerned(first)) continue;
            std::uint32_t last = first + 1;
            while (last < sites.size() && is_concerned(last)) ++last;
            if (!visit(first, last)) return;
            first = last;
        }
    };
    const PerSiteOps gone[] = {old};
    bool quiescent = true;
    const Status status = patcher.change({.add = to, .remove = gone}, for_each_run,
                                         [&] { return quiescent = wait_until_quiescent(); });
    if (carried_out(status)) from = to;
    return status == Status::ok && !quiescent ? Status::timeout : status;
}

std::uint64_t profile_entry() {
    return address_of(events_chosen().any() ? nopscope_profile_events_entry
                                            : nopscope_profile_entry);
}
// Gives the graph and the profile recorder their forms for the chosen events. While the profile's
// family changes, its sites have `parked_ops`, which finds cells by functions' addresses.
Status take_recorders_of_events() {
    Ops& graph = events_chosen().any() ? graph_events_ops : graph_ops;
    Steps steps;
    steps.then([&] { return replace(family_of(Recorder::graph), PerSiteOps::of(graph)); });
    if (!carried_out(steps.status()) || !profile_memory.made()) return steps.status();
    PerSiteOps& profile = family_of(Recorder::profile);
    const PerSiteOps all = profile;
    if (all.first->direct == profile_entry()) return steps.status();
    if (all.first->sites == 0) {
        profile_memory.set_entry(profile_entry());
        return steps.status();
    }
    parked_ops.direct = profile_entry();
    steps.then([&] { return replace(profile, PerSiteOps::of(parked_ops)); });
    steps.then([&] {
        profile_memory.set_entry(profile_entry());
        return replace(profile, all);
    });
    return steps.status();
}

Status may_count(std::span<const std::uint16_t> numbers) {
    for (const Recorder other : {Recorder::function, Recorder::duration, Recorder::sampled}) {
        if (is_in_use(other)) return refuse_events(protocol::EventRefusal::recorder);
    }
    return adaptation.is_active() ? refuse_events(protocol::EventRefusal::mode)
                                  : check_events(numbers);
}

}  // namespace

void prepare_sites(Counters& counters) {
    function_ops.direct = address_of(nopscope_function_entry);
    graph_ops.direct = address_of(nopscope_graph_entry);
    duration_ops.direct = address_of(nopscope_duration_entry);
    sampled_ops.direct = address_of(nopscope_sampled_entry);
    graph_events_ops.direct = address_of(nopscope_graph_events_entry);
    arch::adapt_hooks_to_cpu(machine);
    patcher.set_trampolines({address_of(nopscope_callback), address_of(nopscope_callback_unguarded),
                             address_of(nopscope_far)});
    counters.duplicates = sites.prepare({__nopscope_sites_start, __nopscope_sites_end});
    const Refusals refused = patcher.initialise({address_of(__text_start), address_of(__text_end)});
    counters.refused_misaligned = refused.misaligned;
    counters.refused_outside = refused.outside;
    counters.refused_words = refused.words;
    counters.sites = sites.size() - refused.misaligned - refused.outside - refused.words;
}

void open_names() {
    names =
        protocol::NameTable(__nopscope_names_start, __nopscope_names_end - __nopscope_names_start,
                            sites.size(), hello.site_table_crc);
}

// A site has at most one recorder, because each recorder has a direct entry.
Status set_recorder(Recorder recorder, const Sites& which, std::span<const void* const> except) {
    const Requesting<Machine> alone(request_lock, running_task(), while_waiting);
    if (events_chosen().any() && !counts_events(recorder))
        return refuse_events(protocol::EventRefusal::recorder);
    if (recorder == Recorder::profile) {
        const Status status = prepare_profile();
        if (status != Status::ok) return status;
    }
    if (recorder == Recorder::duration) durations_used = true;
    Change change{.remove = recorders};
    if (recorder != Recorder::none) {
        change.add = family_of(recorder);
        last_recorder = recorder;
    }
    return change_sets(change, {sites, names, which, except});
}

Status enable(Recorder recorder, const Sites& which) {
    if (!initialised) return Status::not_initialised;
    const Requesting<Machine> alone(request_lock, running_task(), while_waiting);
    const Status status = set_recorder(recorder, which, {});
    if (carried_out(status) && adaptation.moved() != 0) {
        SiteNameFilter(sites, names, which, {})
            .for_each_run([](std::uint32_t first, std::uint32_t last) {
                adaptation.forget(first, last);
                return true;
            });
    }
    note_recorders();
    return status;
}

Steps count_in_steps(std::span<const std::uint16_t> numbers) {
    Steps steps;
    if (!initialised) return steps.then([] { return Status::not_initialised; });
    const Requesting<Machine> alone(request_lock, running_task(), while_waiting);
    if (numbers.empty() && !events_chosen().any()) return steps;
    if (!numbers.empty()) {
        if (const Status status = may_count(numbers); status != Status::ok) {
            return steps.then([&] { return status; });
        }
    }
    steps.then([&] {
        bool done = choose_events({});
        // After this wait no recorder adds to a cell.
        done = wait_until_quiescent() && done;
        if (!numbers.empty()) {
            profile_memory.clear_events();
            done = choose_events(numbers) && done;
        }
        return done ? Status::ok : Status::timeout;
    });
    steps.then(take_recorders_of_events);
    if (!carried_out(steps.status())) (void)choose_events({});
    return steps;
}
Status count_events(std::span<const std::uint16_t> numbers) {
    return count_in_steps(numbers).status();
}

// A function that adaptive mode has moved counts for the graph recorder, which the request named.
void note_recorders() {
    std::uint32_t now = 0;
    const std::uint32_t moved = adaptation.moved();
    for (unsigned n = 0; n < std::size(recorders); ++n) {
        std::uint32_t traced = recorders[n].first->sites;
        const auto number = static_cast<Recorder>(n + 1);
        if (number == Recorder::profile) traced -= std::min(traced, moved);
        if (number == Recorder::graph) traced += moved;
        if (traced != 0) now |= 1u << n;
    }
    if (now == in_force.recorders()) return;
    in_force.set_recorders(now, machine.clock());
    send_stats_soon();
}

Status disable(const Sites& which) { return enable(Recorder::none, which); }

Status attach(Ops& ops, const Sites& which) {
    if (!initialised) return Status::not_initialised;
    if (ops.func == nullptr && ops.direct == 0) return Status::bad_config;
    const Requesting<Machine> alone(request_lock, running_task(), while_waiting);
    return change_sets({.add = PerSiteOps::of(ops)}, {sites, names, which, {}});
}

Status detach(Ops& ops, const Sites& which) {
    if (!initialised) return Status::not_initialised;
    const Requesting<Machine> alone(request_lock, running_task(), while_waiting);
    const PerSiteOps one[] = {PerSiteOps::of(ops)};
    const Status status = change_sets({.remove = one}, {sites, names, which, {}});
    if (!carried_out(status) || ops.sites != 0 || ops.func != hook_call) return status;
    // Open calls will still return to the hook. A hook that takes its guard now finds no ops.
    forget_ops_of_cores(static_cast<ReturnOps&>(ops));
    forget_ops_of_contexts(static_cast<ReturnOps&>(ops));
    return wait_until_quiescent() ? Status::ok : Status::timeout;
}

Status set_filter(Ops& ops, const Sites& which) {
    const Requesting<Machine> alone(request_lock, running_task(), while_waiting);
    Steps steps;
    steps.then([&] { return attach(ops, which); });
    steps.then([&] {
        const PerSiteOps one[] = {PerSiteOps::of(ops)};
        return change_sets({.remove = one}, SiteNameFilter::others(sites, names, which));
    });
    return steps.status();
}

bool synchronize() { return initialised && wait_until_quiescent(); }

std::uint32_t site_count() { return sites.size(); }
SiteInfo site(std::uint32_t index) { return {sites.function(index), sites.usable(index)}; }
std::optional<std::uint32_t> lookup(std::uint64_t address) { return sites.find(address); }

void for_each_ops(std::uint32_t index, void (*visit)(Ops& ops, void* user), void* user) {
    if (!initialised || index >= sites.size() || !sites.usable(index)) return;
    patcher.for_each_ops(index, [&](Ops& ops) { visit(ops, user); });
}

std::size_t site_name(std::uint32_t index, char* to, std::size_t room) {
    protocol::NameCursor cursor(names);
    const std::size_t size = cursor.seek(index) ? cursor.size() : 0;
    for (std::size_t i = 0; i < size && i + 1 < room; ++i) to[i] = cursor.data()[i];
    if (room != 0) to[size < room ? size : room - 1] = 0;
    return size;
}

bool try_request(void (*request)(void* user), void* user) {
    if (!request_lock.try_lock(running_task())) return false;
    const Core& core = this_core();
    const bool may = may_request<Machine>(core, interrupt_depth_of(core), interrupted_pc(),
                                          unmarked_code().all());
    if (may) charge_to_tracer(request, user);
    request_lock.unlock();
    return may;
}
Recorder recorder_set_last() { return last_recorder; }

Status prepare_profile() {
    if (!profile_memory.is_open()) return Status::no_profile_memory;
    family_of(Recorder::profile) = profile_memory.family(profile_entry());
    return Status::ok;
}
Status move_to(Recorder recorder, std::span<const void* const> functions) {
    const Recorder last = last_recorder;
    const Status status = set_recorder(recorder, Sites::of(functions), {});
    last_recorder = last;
    return status;
}

void set_adaptation(const Adaptation& given) { adaptation = given; }

std::uint32_t enabled_sites() { return patcher.enabled(); }
LastError last_error() { return patcher.last_error(); }

}  // namespace nopscope
