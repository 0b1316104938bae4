// SPDX-License-Identifier: Apache-2.0
// Contexts that move from one core to another (docs/trace-format.md, "Moves"). Each core has a
// Context of its own for each number, with the sums of what happened there. The open calls go over.
// Their times count where they passed, except min, mean, max and durations: a whole call's time
// counts where it ends.
#include <utility>

#include "host-tools/analysis/profile/profile.hpp"

namespace nopscope::host {
namespace {

// Context 0 is each core's own, and several_contexts stands for no certain one.
bool can_move(std::uint32_t context) {
    return context != 0 && context != protocol::several_contexts;
}

}  // namespace

Profile::Context* Profile::Core::known(std::uint32_t wanted) const {
    const auto found = by_number.find(wanted);
    return found != by_number.end() ? found->second : nullptr;
}

// This core's record of its next context may come later. Until then it runs an unknown one.
Profile::Context* Profile::Core::left(std::uint32_t wanted) {
    Context* const one = known(wanted);
    if (one != nullptr && one == current)
        enter(context(protocol::several_contexts), last_clock, last_clock);
    return one == current ? nullptr : one;
}

// The context that `to` runs was on core `from` before. If only one of the cores has reached the
// part that is shown, the other one's calls are in `before_`.
void Profile::take_over(Core& to, unsigned from, std::uint64_t clock, bool unseen) {
    Context& here = *to.current;
    if (!can_move(here.number) || from == to.number) return;
    if (Core* const core = cores_[from & 0xff].get()) {
        if (Context* const left = core->left(here.number)) here.take_over(*left, clock, unseen);
        return;
    }
    Core* const core = core_before(from & 0xff);
    Context* const left = core != nullptr ? core->left(here.number) : nullptr;
    if (left == nullptr) return;
    Context open(*left, before_->functions_, *this, to, to.part_begin);
    open.decoder.suspend(to.part_begin);
    left->decoder.forget_calls();
    left->has_moved = false;
    here.decoder.forget_calls();  // as they were when this core's part began
    here.take_over(open, clock, unseen);
}

// The core begins its part, or the time after zero(), or never does. Its contexts may have come
// from cores that began before: there their calls are not open any more.
void Profile::forget_moved(const Core& core) {
    for (const auto& one : core.contexts) {
        if (!one->has_moved) continue;
        for (const auto& other : cores_) {
            if (!other || other->number == core.number) continue;
            if (Context* const left = other->known(one->number)) left->decoder.forget_calls();
        }
    }
}

void Profile::Context::take_over(Context& from, std::uint64_t clock, bool unseen) {
    std::vector<Ticks> times_so_far;  // of the open calls, the innermost first
    decoder.take_over(from.decoder, clock, unseen, [&](OpenCall& call, Ticks self, Ticks so_far) {
        FunctionTimes& of = from.times[call.path.function];
        CallTree::Node& node = profile_.tree_[call.path.node];
        of.self_ticks += self;
        of.last_end = from.decoder.time();
        node.self_ticks += self;
        node.total_ticks += so_far;
        const std::uint64_t inside = of.total_ticks - call.total_before;  // that has ended
        if (so_far != 0) of.total_ticks = call.total_before + so_far;
        if (call.path.function >= known && !make_room(call.path.function))
            call.path = {FunctionTable::none, paths().overflow};
        call.total_before = times[call.path.function].total_ticks - (so_far != 0 ? so_far : inside);
        call.taken_before += taken - from.taken;
        if (call.index < OpenCall::first_core_tag)
            call.index += OpenCall::first_core_tag * (from.core_.number + 1);
        times_so_far.push_back(so_far);
    });
    if (group != from.group) {
        decoder.place_again([&](std::uint32_t parent, const Path& path) {
            return path.function == FunctionTable::none
                       ? Path{FunctionTable::none, paths().overflow}
                       : place(parent, profile_.functions_.offset(path.function));
        });
    }
    // Modulo 2^64 until the call ends, which adds all of its time.
    decoder.open_calls().for_each_call([&](const OpenCall& call) {
        if (times_so_far.empty()) return;
        profile_.tree_[call.path.node].total_ticks -= times_so_far.back();
        times_so_far.pop_back();
    });
    event_children = std::exchange(from.event_children, {});
    event_children.move(decoder.open_calls());
    left_out = std::exchange(from.left_out, {});
    left_out.move(decoder.open_calls());
    has_moved = true;
    from.has_moved = false;
}

// A return has no open entry in the running context. If another context of the core has it, the
// record of a switch is missing: recording was stopped, or the ring was full. Its time is unknown,
// so the time since the last record, at `before`, belongs to no context. If the running context has
// the entry on another core, the record of its move is missing.
void Profile::Core::find_context_of(const protocol::Event& event, std::uint64_t before) {
    for (const auto& one : contexts) {
        if (!one->decoder.has_entry_of(event)) continue;
        left_by_return = current->number;
        schedule(Scheduling::Kind::run, event.clock, one->number);
        return enter(*one, before, event.clock);
    }
    if (!can_move(current->number)) return;
    for (const auto& core : profile_.cores_) {
        if (!core || core.get() == this) continue;
        const Context* const one = core->known(current->number);
        if (one != nullptr && one->decoder.has_entry_of(event, ReturnOn::another_core))
            return profile_.take_over(*this, core->number, event.clock, true);
    }
}

}  // namespace nopscope::host
