// SPDX-License-Identifier: Apache-2.0
// Functions with their calls and times: from the trace, from the target's profile, or from both.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "host-tools/calls/places.hpp"
#include "host-tools/figures/profile/sums.hpp"

namespace nopscope::host {

struct Report;

// Figures as recorded, and `corrected`: less the recording overhead.
template <typename Figures>
struct Corrected : Figures {
    Figures corrected;

    // As a text shows them.
    const Figures& shown(bool raw) const { return raw ? *this : corrected; }
};

// Of the single calls that were recorded from begin to end. min <= mean <= max <= the row's total.
struct CallTimes {
    std::uint64_t min_ns = 0;
    std::uint64_t mean_ns = 0;
    std::uint64_t max_ns = 0;
};

// Where the longest single call is, to find it with `replay --around`.
struct Longest {
    std::uint64_t end_ns = 0;  // when it ended: since the recording's first record
    std::uint32_t core = 0;
    std::uint32_t context = 0;
};

struct RowTimes : Times {           // `cpu_ns` of calls in the target's profile is all of the total
    std::optional<CallTimes> call;  // nothing: no call was recorded from begin to end
};

// A function's calls and times.
struct TimedRow : FunctionPlace, Corrected<RowTimes> {
    std::uint64_t calls = 0;
    // self / the self of all rows of its kind, corrected unless Report::raw, 0..1
    double share = 0;
};

// From the records of a trace.
struct FunctionRow : TimedRow, CallCounts {
    std::uint16_t group = 0;         // in Report::groups
    std::uint64_t profiled = 0;      // of `calls`: from the target's profile
    std::optional<Longest> longest;  // as recorded; nothing: it is not known
};

// From the sums of the target's profile recorder. Each row has calls. The total is the sum over all
// calls, also over calls inside each other. Corrected, it contains the overhead of the calls that
// the function made.
struct ProfileRow : TimedRow {
    std::array<std::uint64_t, 2> percentiles_ns{};  // p50, p99: upper bounds, ends of bins
    std::array<std::uint64_t, 2> corrected_percentiles_ns{};
    std::uint64_t taken = 0;  // overhead of each call, in 1/256 ticks: subtract it from bins' ends
    std::array<std::uint64_t, protocol::profile_bins> bins{};
    bool doubtful = false;  // calls are missing: those beyond the shadow stack

    const std::array<std::uint64_t, 2>& percentiles(bool raw) const {
        return raw ? percentiles_ns : corrected_percentiles_ns;
    }
};

// A row's self time is doubtful if a gap lies in its calls, or if its core dropped records while
// one of them was open, or had calls beyond the shadow stack. The tracer does not hook such a call,
// so the call's time is in its caller's self time.
inline bool has_gaps(const FunctionRow& row) { return row.incomplete != 0 || row.lost != 0; }
inline bool is_doubtful(const FunctionRow& row) { return has_gaps(row) || row.dropped != 0; }

void add_functions(Report& report, const Profile& profile, const Places& places);
void add_profile(Report& report, const TargetProfile& profile, const Places& places);
// In adaptive mode the trace has some of a function's calls, and the profile has the others. Adds
// the profile to `functions`.
void join_profile(Report& report);

enum class SortKey : std::uint8_t { self, total, calls, max };

// Sorts by what `value` returns for a row, the largest first, then by name; keeps the first `top`
// (0: all).
template <typename Row, typename Value>
void keep_largest(std::vector<Row>& rows, std::size_t top, Value value) {
    std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
        if (const auto x = value(a), y = value(b); x != y) return x > y;
        return a.name != b.name ? a.name < b.name : a.address < b.address;
    });
    if (top != 0 && rows.size() > top) rows.resize(top);
}
// By `key`. `raw`: by times as recorded, not by corrected ones.
void sort_rows(std::vector<FunctionRow>& rows, SortKey key, std::size_t top, bool raw = true);
void sort_rows(std::vector<ProfileRow>& rows, SortKey key, std::size_t top, bool raw = true);

}  // namespace nopscope::host
