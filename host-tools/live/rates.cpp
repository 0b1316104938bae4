// SPDX-License-Identifier: Apache-2.0
#include "host-tools/live/rates.hpp"

#include <algorithm>

#include "host-tools/figures/report/task_table.hpp"
#include "host-tools/live/live_recording.hpp"

namespace nopscope::host {
namespace {

std::vector<CoreRates> core_rates(const LiveView& earlier, const LiveView& later, double seconds) {
    const double ticks = static_cast<double>(since(later.target_ticks, earlier.target_ticks));
    const bool other_session = earlier.status.stream.sessions != later.status.stream.sessions;
    std::vector<CoreRates> rates;
    for (std::size_t i = 0; i < later.status.cores.size(); ++i) {
        const CoreStatus none{};
        const auto& now = later.status.cores[i];
        const auto& before = i < earlier.status.cores.size() ? earlier.status.cores[i] : none;
        CoreRates& of = rates.emplace_back();
        of.number = now.number;
        of.records =
            static_cast<double>(since(now.records, other_session ? 0 : before.records)) / seconds;
        if (ticks > 0) {
            const auto busy = static_cast<double>(since(now.busy_ticks, before.busy_ticks));
            of.busy = std::min(1.0, busy / ticks);
        }
    }
    return rates;
}

std::unordered_map<std::string, std::uint64_t> task_times(const LiveView& view) {
    std::unordered_map<std::string, std::uint64_t> times;
    if (!view.report || !view.report->has_tasks()) return times;
    for (const TaskLine& line : task_table(*view.report, *view.profile).tasks)
        times[line.name] = line.cpu_ns;
    return times;
}

std::unordered_map<std::string, double> task_rates(const LiveView& earlier, const LiveView& later) {
    auto known = task_times(earlier);
    std::unordered_map<std::string, double> rates;
    double all = 0;
    for (const auto& [name, ns] : task_times(later)) {
        if (ns > known[name]) all += rates[name] = static_cast<double>(ns - known[name]);
    }
    for (auto& [name, share] : rates) share /= all;
    return rates;
}

}  // namespace

std::unordered_map<std::uint64_t, FunctionSum> sums_by_key(const Report& report) {
    std::unordered_map<std::uint64_t, FunctionSum> sums;
    for (const FunctionRow& row : report.functions) {
        FunctionSum& of = sums[key_of(row)];
        of.calls += row.calls;
        of.self_ns += row.self_ns;
    }
    // In adaptive mode, the report's functions already contain the calls of the profile.
    if (report.adaptive) return sums;
    for (const ProfileRow& row : report.profile) {
        FunctionSum& of = sums[key_of(row)];
        if (row.calls > of.calls) of = {row.calls, row.self_ns};
    }
    return sums;
}

Rates rates_between(const LiveView& earlier, const LiveView& later) {
    if (earlier.status.begin.number != later.status.begin.number) {
        // The earlier figures are others. These have counted since they began.
        LiveView begin;
        begin.status.begin = later.status.begin;
        begin.status.at = later.status.begin.at;
        begin.status.stream.sessions = later.status.stream.sessions;
        return rates_between(begin, later);
    }
    Rates rates;
    rates.seconds = std::chrono::duration<double>(later.status.at - earlier.status.at).count();
    if (rates.seconds <= 0) return rates;
    const auto per_second = [&](std::uint64_t before, std::uint64_t now) {
        return static_cast<double>(since(now, before)) / rates.seconds;
    };
    const LiveStatus& before = earlier.status;
    const LiveStatus& now = later.status;
    rates.bytes = per_second(before.line.bytes, now.line.bytes);
    if (now.hello && now.hello->line_bytes_per_second != 0) {
        rates.line_share = rates.bytes / now.hello->line_bytes_per_second;
    }
    rates.records = per_second(before.stream.delivered, now.stream.delivered);
    rates.dropped = per_second(before.stream.dropped, now.stream.dropped);
    rates.cores = core_rates(earlier, later, rates.seconds);
    if (!later.report) return rates;
    const auto known =
        earlier.report ? sums_by_key(*earlier.report) : decltype(sums_by_key(*later.report))();
    double all = 0;
    for (const auto& [key, sum] : sums_by_key(*later.report)) {
        const auto found = known.find(key);
        const FunctionSum was = found == known.end() ? FunctionSum() : found->second;
        if (sum.calls > was.calls) rates.calls[key] = per_second(was.calls, sum.calls);
        if (sum.self_ns > was.self_ns)
            all += rates.self[key] = static_cast<double>(sum.self_ns - was.self_ns);
    }
    for (auto& [key, self] : rates.self) self /= all;
    rates.tasks = task_rates(earlier, later);
    return rates;
}

}  // namespace nopscope::host
