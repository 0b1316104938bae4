// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/report/functions.hpp"

#include <algorithm>
#include <unordered_map>

#include "host-tools/figures/profile/correction.hpp"
#include "host-tools/figures/report/report.hpp"

namespace nopscope::host {
namespace {

// Times of calls, in 1/256 ticks. A negative time counts as zero.
struct FixedCalls {
    SignedFixedTicks min = 0;
    SignedFixedTicks sum = 0;
    SignedFixedTicks max = 0;
};
// Limits each time to `total_ns`: sums are rounded by path (figures/profile/sums.hpp), so a call
// may otherwise be some nanoseconds above its function's total.
CallTimes call_times(const FixedCalls& calls, std::uint64_t count, std::uint64_t total_ns,
                     std::uint64_t clock_hz) {
    const auto ns = [&](SignedFixedTicks fixed) { return positive_ns(fixed, clock_hz); };
    const std::uint64_t min = std::min(ns(calls.min), total_ns),
                        max = std::min(ns(calls.max), total_ns);
    return {min, std::clamp((ns(calls.sum) + count / 2) / count, min, std::max(min, max)), max};
}

// `longest_ns`: a call may be that long, even if the total is less.
void add_times(FunctionRow& row, const FunctionTimes& times, const Times& raw,
               const Times& corrected, std::int64_t pad, std::uint64_t clock_hz,
               std::uint64_t longest_ns) {
    row.calls = times.calls;
    static_cast<CallCounts&>(row) = times;
    static_cast<Times&>(row) = raw;
    static_cast<Times&>(row.corrected) = corrected;
    if (times.timed != 0) {
        const auto fixed = [](std::uint64_t ticks) {
            return SignedFixedTicks{ticks} * protocol::overhead_unit;
        };
        row.call =
            call_times({fixed(times.min_ticks), fixed(times.timed_ticks), fixed(times.max_ticks)},
                       times.timed, std::max(row.total_ns, longest_ns), clock_hz);
    }
    if (times.timed > times.uncorrected) {
        const std::uint64_t calls = times.timed - times.uncorrected;
        row.corrected.call = call_times(
            {times.corrected_min - pad, times.corrected_sum - SignedFixedTicks{calls} * pad,
             times.corrected_max - pad},
            calls, std::max(row.corrected.total_ns, longest_ns), clock_hz);
    }
    if (times.max_ticks != 0)
        row.longest = Longest{times.max_end, times.max_core, times.max_context};
}

template <typename Row>
void add_shares(std::vector<Row>& rows, bool raw) {
    double all = 0;
    for (const Row& row : rows) all += static_cast<double>(row.shown(raw).self_ns);
    for (Row& row : rows) {
        if (all > 0) row.share = static_cast<double>(row.shown(raw).self_ns) / all;
    }
}

std::int64_t subtracted_of(const TimedRow& row) {
    return static_cast<std::int64_t>(row.self_ns - row.corrected.self_ns);
}

CallTimes joined(const std::optional<CallTimes>& a, std::uint64_t calls, const CallTimes& b,
                 std::uint64_t more) {
    if (!a) return b;
    const auto sum = [](std::uint64_t ns, std::uint64_t count) {
        return SignedFixedTicks{ns} * SignedFixedTicks{count};
    };
    const SignedFixedTicks mean =
        (sum(a->mean_ns, calls) + sum(b.mean_ns, more)) / (SignedFixedTicks{calls} + more);
    return {std::min(a->min_ns, b.min_ns), static_cast<std::uint64_t>(mean),
            std::max(a->max_ns, b.max_ns)};
}

ProfileRow profile_row(FunctionPlace place, const ProfiledTimes& times,
                       const CorrectedProfile& corrected, std::uint64_t clock_hz) {
    auto row = row_at<ProfileRow>(std::move(place));
    row.calls = times.calls;
    row.total_ns = row.cpu_ns = ticks_to_ns(times.total_ticks, clock_hz);
    row.self_ns =
        positive_ns(SignedFixedTicks{times.self_ticks} * protocol::overhead_unit, clock_hz);
    static_cast<Times&>(row.corrected) = corrected.times;
    row.corrected.cpu_ns = row.corrected.total_ns;
    row.bins = times.bins;
    row.taken = static_cast<std::uint64_t>(corrected.each);
    const auto less = [&](std::uint64_t ticks, SignedFixedTicks taken) {
        return SignedFixedTicks{ticks} * protocol::overhead_unit - taken;
    };
    const auto all = [&](SignedFixedTicks each, std::uint64_t total_ns) {
        return call_times(
            {less(times.min_ticks, each),
             less(times.total_ticks, each * static_cast<SignedFixedTicks>(times.calls)),
             less(times.max_ticks, each)},
            times.calls, total_ns, clock_hz);
    };
    row.call = all(0, row.total_ns);
    row.corrected.call = all(corrected.each, row.corrected.total_ns);
    for (std::size_t i = 0; i < row.percentiles_ns.size(); ++i) {
        const std::uint64_t ticks = times.percentile(i == 0 ? 50 : 99);
        row.percentiles_ns[i] = std::min(ticks_to_ns(ticks, clock_hz), row.call->max_ns);
        row.corrected_percentiles_ns[i] = std::min(
            positive_ns(less(ticks, corrected.each), clock_hz), row.corrected.call->max_ns);
    }
    return row;
}

// Adds the times of `more` calls to those of `timed` calls.
void add(RowTimes& to, std::uint64_t timed, const RowTimes& from, std::uint64_t more) {
    to.total_ns += from.total_ns;
    to.self_ns += from.self_ns;
    to.cpu_ns += from.cpu_ns;
    to.call = joined(to.call, timed, *from.call, more);
}

template <typename Row>
void sort_by(std::vector<Row>& rows, SortKey key, std::size_t top, bool raw) {
    const auto value = [key, raw](const Row& row) {
        const RowTimes& times = row.shown(raw);
        switch (key) {
        case SortKey::total: return times.total_ns;
        case SortKey::calls: return row.calls;
        case SortKey::max: return times.call.value_or(CallTimes{}).max_ns;
        case SortKey::self: break;
        }
        return times.self_ns;
    };
    keep_largest(rows, top, [&](const Row& row) { return std::pair(value(row), row.calls); });
}

CodeFacts code_facts(const FunctionTable& functions, const Places& places) {
    CodeFacts code{.local = std::vector<bool>(functions.size()), .tail = {}};
    for (std::uint32_t number = FunctionTable::none + 1; number < functions.size(); ++number)
        code.local[number] = places.lacks_landing_pad(functions.offset(number));
    if (places.symbols == nullptr) return code;
    code.tail = [&](std::uint32_t caller, std::uint32_t callee) {
        const std::uint32_t from = functions.offset(caller), to = functions.offset(callee);
        if (is_interrupt(from) || is_interrupt(to)) return Tail::never;
        return places.symbols->tail(places.address(from), places.address(to));
    };
    return code;
}

}  // namespace

void add_functions(Report& report, const Profile& profile, const Places& places) {
    const FunctionTable& functions = profile.functions();
    const TimesByGroup times = profile.times_by_group();
    CodeFacts code = code_facts(functions, places);
    Sums as_recorded = sum_up(profile, times, {});
    Sums corrected = correct(profile, times, code);
    report.below_zero_ns = corrected.below_zero_ns;
    report.split = profile.groups().by();
    report.groups = profile.groups().names();
    // A core has only a part of the times of a call that moved.
    const bool is_by_core = report.split == SplitBy::core;
    const std::uint64_t longest_ns = is_by_core ? ~std::uint64_t{0} : 0;
    for (std::uint32_t number = 0; number < functions.size(); ++number) {
        const auto place = row_at<FunctionRow>(
            number == FunctionTable::none ? others_place() : places[functions.offset(number)]);
        FunctionRow& whole = report.by_number.emplace_back(place);
        for (std::size_t group = 0; group < times.size(); ++group) {
            FunctionRow row = place;
            row.group = static_cast<std::uint16_t>(group);
            add_times(row, number < times[group].size() ? times[group][number] : FunctionTimes{},
                      as_recorded.functions[group][number], corrected.functions[group][number],
                      code.local[number] ? report.landing_pad : 0, report.clock_hz, longest_ns);
            report.subtracted_ns += subtracted_of(row);
            whole.calls += row.calls;
            if (report.split == SplitBy::nothing) whole = row;
            // A call that moved to another core has a time there, and is not counted there.
            const bool has_time = is_by_core && row.total_ns != 0;
            if ((row.calls | row.cut) != 0 || has_time) report.functions.push_back(std::move(row));
        }
    }
    report.others = {
        .calls = report.by_number[FunctionTable::none].calls + profile.on_target().others().calls,
        .path_calls = 0,
        .left_out = profile.left_out()};
    for (const CallTree::Group& group : profile.tree().groups())
        report.others.path_calls += profile.tree().nodes()[group.overflow].calls;
    report.nodes = std::move(corrected.nodes);
    report.raw_nodes = std::move(as_recorded.nodes);
    report.no_landing_pad = std::move(code.local);
    add_shares(report.functions, report.raw);
}

void add_profile(Report& report, const TargetProfile& profile, const Places& places) {
    report.read_out = profile.last_read_out();
    const auto add = [&](FunctionPlace place, const ProfiledTimes& times, bool local) {
        if (times.calls == 0) return;  // a hostile count wraps
        const CorrectedProfile corrected = correct(times, places.hello, local);
        ProfileRow& row = report.profile.emplace_back(
            profile_row(std::move(place), times, corrected, report.clock_hz));
        report.below_zero_ns += corrected.below_zero_ns;
        report.subtracted_ns += subtracted_of(row);
        row.doubtful = report.integrity.value("shadow_stack_full") != 0;
    };
    for (const auto& [offset, times] : profile.functions())
        add(places[offset], times, places.lacks_landing_pad(offset));
    add(others_place(), profile.others(), false);
    add_shares(report.profile, report.raw);
}

void join_profile(Report& report) {
    std::unordered_map<std::uint64_t, std::size_t> at;
    const bool is_split = report.split != SplitBy::nothing;
    if (is_split) report.groups.push_back("(target's profile)");
    const auto last_group = static_cast<std::uint16_t>(report.groups.size() - 1);
    for (std::size_t i = 0; i < report.functions.size() && !is_split; ++i)
        at[report.functions[i].address] = i;
    for (const ProfileRow& from : report.profile) {
        const auto [found, is_new] = at.try_emplace(from.address, report.functions.size());
        if (is_new) {
            report.functions.push_back(row_at<FunctionRow>(from));
            if (is_split) report.functions.back().group = last_group;
        }
        FunctionRow& row = report.functions[found->second];
        row.calls += from.calls;
        row.profiled = from.calls;
        if (row.call && from.call->max_ns > row.call->max_ns) row.longest.reset();
        add(row, row.timed, from, from.calls);
        add(row.corrected, row.timed, from.corrected, from.calls);
        row.timed += from.calls;
    }
    add_shares(report.functions, report.raw);
}

void sort_rows(std::vector<FunctionRow>& rows, SortKey key, std::size_t top, bool raw) {
    sort_by(rows, key, top, raw);
}
void sort_rows(std::vector<ProfileRow>& rows, SortKey key, std::size_t top, bool raw) {
    sort_by(rows, key, top, raw);
}

}  // namespace nopscope::host
