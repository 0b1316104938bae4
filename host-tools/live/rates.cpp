// SPDX-License-Identifier: Apache-2.0
#include "host-tools/live/rates.hpp"

#include <algorithm>

namespace nopscope {
namespace {

// What was there before may have gone: a count of records that were missing, say.
double since(std::uint64_t earlier, std::uint64_t later) {
    return later > earlier ? static_cast<double>(later - earlier) : 0;
}

std::vector<CoreRates> core_rates(const Look& earlier, const Look& later, double seconds) {
    const double ticks = since(earlier.target_ticks, later.target_ticks);
    const bool other_session = earlier.status.stream.sessions != later.status.stream.sessions;
    std::vector<CoreRates> rates;
    for (std::size_t i = 0; i < later.status.cores.size(); ++i) {
        const CoreStatus none{};
        const auto& now = later.status.cores[i];
        const auto& before = i < earlier.status.cores.size() ? earlier.status.cores[i] : none;
        CoreRates& of = rates.emplace_back();
        of.number = now.number;
        of.records = since(other_session ? 0 : before.records, now.records) / seconds;
        if (ticks > 0) of.busy = std::min(1.0, since(before.busy_ticks, now.busy_ticks) / ticks);
    }
    return rates;
}

}  // namespace

std::unordered_map<std::uint64_t, std::uint64_t> calls_by_address(const Report& report) {
    std::unordered_map<std::uint64_t, std::uint64_t> calls;
    for (const FunctionRow& row : report.functions) calls[row.address] += row.calls;
    // Of a target in adaptive mode the profile's are among those already.
    if (report.adaptive) return calls;
    for (const ProfileRow& row : report.profile) {
        if (row.calls != 0) calls[row.address] = std::max(calls[row.address], row.calls);
    }
    return calls;
}

Rates rates_between(const Look& earlier, const Look& later) {
    Rates rates;
    rates.seconds = std::chrono::duration<double>(later.status.at - earlier.status.at).count();
    if (rates.seconds <= 0) return rates;
    const auto per_second = [&](std::uint64_t before, std::uint64_t now) {
        return since(before, now) / rates.seconds;
    };
    const Status& before = earlier.status;
    const Status& now = later.status;
    rates.bytes = per_second(before.line.bytes, now.line.bytes);
    if (now.hello && now.hello->line_bytes_per_second != 0) {
        rates.line_share = rates.bytes / now.hello->line_bytes_per_second;
    }
    rates.records = per_second(before.stream.delivered, now.stream.delivered);
    rates.dropped = per_second(before.stream.dropped, now.stream.dropped);
    rates.cores = core_rates(earlier, later, rates.seconds);
    if (!later.report) return rates;
    const auto counts = earlier.report ? calls_by_address(*earlier.report)
                                       : std::unordered_map<std::uint64_t, std::uint64_t>();
    for (const auto& [address, calls] : calls_by_address(*later.report)) {
        const auto known = counts.find(address);
        const double rate = per_second(known == counts.end() ? 0 : known->second, calls);
        if (rate > 0) rates.calls[address] = rate;
    }
    return rates;
}

}  // namespace nopscope
