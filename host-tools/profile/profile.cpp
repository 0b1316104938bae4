// SPDX-License-Identifier: Apache-2.0
#include "host-tools/profile/profile.hpp"

namespace nopscope {

void Profile::finish() { reader_.finish(); }

void Profile::on_session(const HelloInfo& hello) {
    if (!hello_) hello_ = hello;
}

void Profile::on_session_end() {
    bool any = false;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    decoder_ = {};
    tracer_ticks_ = 0;
    for (const auto& core : cores_) {
        if (!core) continue;
        auto& decoder = core->decoder;
        if (decoder.started()) {
            const std::uint64_t begin = decoder.first_clock();
            const std::uint64_t end = decoder.last_clock();
            if (!any || not_negative(first - begin) != 0) first = begin;
            if (!any || not_negative(end - last) != 0) last = end;
            any = true;
            decoder.finish();
        }
        // Cumulative over sessions.
        decoder_.orphan_returns += decoder.counters().orphan_returns;
        decoder_.too_deep += decoder.counters().too_deep;
        decoder_.unknown_records += decoder.counters().unknown_records;
        tracer_ticks_ += decoder.tracer_ticks();
    }
    duration_ticks_ += not_negative(last - first);
}

TraceResult Profile::on_trace(unsigned number, const std::uint8_t* payload, std::size_t count,
                              bool gap) {
    auto& slot = cores_[number & 0xff];
    if (!slot) slot = std::make_unique<Core>(*this);
    auto& decoder = slot->decoder;
    if (gap) decoder.on_gap();
    wire::TraceReader reader(payload, count);
    wire::Event event;
    while (reader.next(event)) decoder.on_event(event);
    return {reader.next_index(), reader.ok()};
}

void Profile::Core::closed(const OpenCall& call, const ClosedCall& result) {
    FunctionTimes& of = times[call.function];
    const std::uint64_t total = call.total_before + result.ticks;
    of.self_ticks += result.self_ticks;
    switch (result.outcome) {
    case Outcome::returned:
        break;
    case Outcome::unwound:
        ++of.unwound;
        break;
    case Outcome::open:
        ++of.open;
        break;
    case Outcome::lost:
        ++of.lost;
        break;
    }
    if (result.outcome == Outcome::lost) {
        // Calls since the gap have been added to the total already.
        if (total > of.total_ticks) of.total_ticks = total;
    } else {
        of.total_ticks = total;
    }
    if (result.incomplete) {
        ++of.incomplete;
    } else if (result.outcome != Outcome::open && result.outcome != Outcome::lost) {
        ++of.timed;
        if (result.ticks < of.min_ticks) of.min_ticks = result.ticks;
        if (result.ticks > of.max_ticks) of.max_ticks = result.ticks;
    }
    CallTree::Node& node = profile_.tree_[call.node];
    node.total_ticks += result.ticks;
    node.self_ticks += result.self_ticks;
}

std::vector<FunctionTimes> Profile::times() const {
    std::vector<FunctionTimes> sum(functions_.size());
    for (const auto& core : cores_) {
        if (!core) continue;
        for (std::size_t i = 0; i < core->times.size(); ++i) {
            const FunctionTimes& from = core->times[i];
            FunctionTimes& to = sum[i];
            to.calls += from.calls;
            to.total_ticks += from.total_ticks;
            to.self_ticks += from.self_ticks;
            to.timed += from.timed;
            to.open += from.open;
            to.lost += from.lost;
            to.unwound += from.unwound;
            to.incomplete += from.incomplete;
            if (from.min_ticks < to.min_ticks) to.min_ticks = from.min_ticks;
            if (from.max_ticks > to.max_ticks) to.max_ticks = from.max_ticks;
        }
    }
    return sum;
}

}  // namespace nopscope
