// SPDX-License-Identifier: Apache-2.0
// A stream that goes on where another one is.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "host-tools/analysis/events/balanced_stream.hpp"

namespace nopscope::host {

BalancedStream::BalancedStream(const BalancedStream& other, EventSink& sink,
                               std::function<const Symbols*()> symbols)
    : sink_(sink),
      part_is_ahead_(other.part_is_ahead_),
      origin_time_(other.origin_time_),
      symbols_(std::move(symbols)),
      origin_(other.origin_),
      axis_(other.axis_),
      result_(other.result_),
      cuts_(other.cuts_),
      time_(other.time_),
      budget_(other.budget_),
      functions_(other.functions_),
      introduced_(other.introduced_),
      introduced_none_(other.introduced_none_),
      sampled_(other.sampled_),
      own_introduced_(other.own_introduced_),
      context_count_(other.context_count_),
      has_core_(other.has_core_),
      clock_pair_(other.clock_pair_),
      first_clock_(other.first_clock_),
      last_clock_(other.last_clock_),
      base_(other.base_),
      tracks_(other.tracks_),
      sessions_(other.sessions_),
      orphan_returns_(other.orphan_returns_),
      site_count_(other.site_count_),
      functions_introduced_(other.functions_introduced_),
      unknown_sites_(other.unknown_sites_) {
    copy_cores(other);
    if (origin_time_) sink_.on_origin(*origin_time_);
}

void BalancedStream::copy_cores(const BalancedStream& other) {
    std::unordered_map<const Context*, Context*> copies;
    for (std::size_t number = 0; number < cores_.size(); ++number) {
        if (!other.cores_[number]) continue;
        const Core& from = *other.cores_[number];
        Core& to = *(cores_[number] = std::make_unique<Core>());
        for (const auto& context : from.contexts) {
            Context& copy = *to.contexts.emplace_back(std::make_unique<Context>(*context));
            copy.track.task = nullptr;
            copies[context.get()] = &copy;
        }
        static_cast<CoreState&>(to) = from;
    }
    for (std::size_t number = 0; number < cores_.size(); ++number) {
        if (!cores_[number]) continue;
        const Core& from = *other.cores_[number];
        Core& to = *cores_[number];
        for (const auto& [context, at] : from.by_number) to.by_number[context] = copies[at];
        to.current = copies[from.current];
        to.waiting = from.waiting;
        to.waiting.from = copies[from.waiting.from];
        to.waiting.to = copies[from.waiting.to];
    }
    for (const auto& [context, core] : other.core_of_)
        core_of_[context] = cores_[core->number].get();
    for (const Missing& missing : other.absences_)
        absences_.push_back({cores_[missing.core->number].get(), missing.part});
}

Nanoseconds BalancedStream::reached(std::optional<unsigned> only) const {
    Nanoseconds latest = 0;
    for (const auto& core : cores_) {
        if (core && only.value_or(core->number) == core->number)
            latest = std::max(latest, core->now);
    }
    return latest - std::min(latest, origin_time_.value_or(latest));
}

bool BalancedStream::is_in_tracer(unsigned number) const {
    const auto& stack = cores_[number & 0xff]->current->stack;
    return std::ranges::any_of(stack,
                               [](const Open& one) { return one.function == tracer_function; });
}

std::size_t BalancedStream::open_calls() const {
    std::size_t calls = 0;
    for (const auto& core : cores_) {
        if (!core) continue;
        for (const auto& context : core->contexts) calls += context->stack.size() - 1;
    }
    return calls;
}

}  // namespace nopscope::host
