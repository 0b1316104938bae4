// SPDX-License-Identifier: Apache-2.0
// Sums that begin or end within a session: of a part of a recording, and after zero(). The time
// before is decoded into another profile, `before_`, from which the open calls are taken over.
#include <algorithm>

#include "host-tools/analysis/profile/profile.hpp"

namespace nopscope::host {
namespace {

using MaybeClock = std::optional<std::uint64_t>;
MaybeClock later(MaybeClock a, MaybeClock b) {
    if (!a || !b) return a ? a : b;
    return not_negative(*b - *a) != 0 ? b : a;
}

}  // namespace

Profile::Context::Context(const Context& from, const FunctionTable& functions, Profile& profile,
                          const Core& core, std::uint64_t clock)
    : number(from.number),
      group(profile.group_of(core.number, from.number)),
      counts_durations(profile.counts_durations_),
      leaves_out_short(profile.least_ns_ != 0),
      on_cpu(profile.on_cpu_),
      handed_within(profile.handed_within_),
      profile_(profile),
      core_(core),
      times(1),
      known(1),
      decoder(from.decoder, *this),
      entered(clock),
      has_moved(from.has_moved) {
    decoder.begin_part(clock, paths().root, [&](std::uint32_t parent, const Path& path) {
        return path.function == FunctionTable::none
                   ? Path{FunctionTable::none, paths().overflow}
                   : place(parent, functions.offset(path.function));
    });
}

Profile::Core::Core(Core& from, const FunctionTable& functions, Profile& profile,
                    std::uint64_t clock)
    : profile_(profile),
      number(from.number),
      with_data(from.with_data),
      last_clock(clock),
      part_begin(clock),
      runs(from.runs),
      last_context(from.last_context),
      left_by_return(from.left_by_return) {
    from.bring_to(clock);
    earlier_tracer = from.tracer_so_far();
    for (const auto& context : from.contexts) {
        Context& copy = add(std::make_unique<Context>(*context, functions, profile, *this, clock));
        if (context.get() == from.current) current = &copy;
    }
}

Profile::Core* Profile::core_before(unsigned number) const {
    return before_ ? before_->cores_[number].get() : nullptr;
}

void Profile::on_part(PartMark mark, unsigned number, std::uint64_t clock) {
    if (mark == PartMark::ahead) {
        before_ = std::make_unique<Profile>(budget_.half());
        return;
    }
    if (mark == PartMark::origin) return begin_axis(clock);
    auto& core = cores_[number & 0xff];
    if (mark == PartMark::end) return core->end_part(clock);
    const auto& before = before_->cores_[number & 0xff];
    core = before ? std::make_unique<Core>(*before, before_->functions_, *this, clock)
                  : std::make_unique<Core>(*this, number & 0xff);
    core->part_begin = clock;
    core->schedule(Scheduling::Kind::begin, clock, core->current->number);
    forget_moved(*core);
}

// The core's part has not begun yet. on_part() says when it does, or the clock of zero().
void Profile::trace_before(unsigned number, const TraceBatch& batch) {
    const auto is_after = [this](const protocol::StampedRecord& record) {
        const auto since = static_cast<std::int64_t>(record.clock - zero_clock_.value_or(0));
        return zero_clock_ && since >= 0;
    };
    const auto begin = std::find_if(batch.records.begin(), batch.records.end(), is_after);
    const auto earlier = static_cast<std::size_t>(begin - batch.records.begin());
    TraceBatch head = batch;
    head.records = batch.records.first(earlier);
    before_->on_trace(number, head);
    if (begin == batch.records.end()) return;
    on_part(PartMark::begin, number, *zero_clock_);
    on_trace(number, {.first_index = batch.first_index + earlier,
                      .records = batch.records.subspan(earlier)});
}

void Profile::Core::end_part(std::uint64_t clock) {
    last_clock = clock;
    for (const auto& one : contexts) one->part_is_over = true;
    current->decoder.end_part(clock);
}

void Profile::Core::forget_calls_but(const Wants& wants) {
    for (auto& one : contexts) {
        if (wants(number, one->number)) continue;
        auto empty = std::make_unique<Context>(profile_, *this, one->number);
        if (one.get() == current) current = empty.get();
        one = std::move(empty);
    }
}

// The sums of a profile that knows the target as this one does, and has counted nothing.
ProfileSums Profile::sums_at_zero() const {
    ProfileSums sums;
    static_cast<ProfileFacts&>(sums) = *this;
    sums.budget_ = whole_budget_;
    if (counts_durations_) sums.functions_.set_price(price::function + sizeof(DurationsOf));
    sums.on_target_ = on_target_;
    sums.on_target_.zero(sums.budget_);
    sums.events_on_target_ = events_on_target_;
    sums.events_on_target_.zero(sums.budget_);
    sums.tasks_ = tasks_;
    sums.tasks_.zero(sums.budget_);
    sums.state_ = state_;
    sums.state_.zero();
    return sums;
}

std::unique_ptr<Profile> Profile::open_calls(MemoryBudget budget) const {
    auto open = std::make_unique<Profile>(budget);
    open->hello_ = hello_;
    open->costs_ = costs_;
    open->handed_within_ = handed_within_;
    open->time_ = time_;
    open->cuts_ = cuts_;
    open->origin_ = origin_;
    open->latest_ = latest_;
    open->sessions_ = sessions_;
    std::size_t contexts = 0;
    for (std::size_t number = 0; number < cores_.size(); ++number) {
        const Profile& of = cores_[number] || !before_ ? *this : *before_;
        if (!of.cores_[number]) continue;
        Core from(*of.cores_[number], *open);
        open->cores_[number] = std::make_unique<Core>(from, of.functions_, *open, from.last_clock);
        contexts += from.contexts.size();
    }
    open->context_count_ = contexts;
    open->paths_.close();
    return open;
}

std::optional<std::uint64_t> Profile::first_clock(unsigned core) const {
    const std::optional<Span> calls = span(core);
    return calls ? std::optional(calls->first) : std::nullopt;
}

bool Profile::has_moved_calls() const {
    bool any = false;
    for_each_context([&any](const Context& context) { any |= context.has_moved; });
    return any;
}

void Profile::resume(const Profile& open, std::optional<std::uint64_t> first,
                     std::optional<unsigned> core) {
    const MemoryBudget budget = before_->whole_budget_;
    before_ = std::make_unique<Profile>(open);
    before_->budget_ = before_->whole_budget_ = budget;
    for (auto& one : before_->cores_) {
        if (one && core && one->number != *core) one.reset();
    }
    first_clock_ = first;
}

void Profile::zero(std::optional<std::uint64_t> at, const Wants& wants) {
    constexpr double share_for_open_calls = 0.02;
    const std::optional<Span> calls = span();
    auto open = std::make_unique<Profile>(*open_calls(MemoryBudget(share_for_open_calls)));
    for (const auto& core : open->cores_) {
        if (core && wants) core->forget_calls_but(wants);
    }
    for (const auto& core : open->cores_) {
        if (core) open->forget_moved(*core);
    }
    static_cast<ProfileSums&>(*this) = sums_at_zero();
    zero_clock_ = later(zero_clock_, at);
    if (calls) zero_clock_ = later(zero_clock_, calls->last + 1);
    if (!first_clock_ && calls) first_clock_ = calls->first;
    paths_.forget();
    for (auto& core : cores_) core.reset();
    before_ = zero_clock_ ? std::move(open) : nullptr;
}

}  // namespace nopscope::host
