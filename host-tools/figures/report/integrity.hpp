// SPDX-License-Identifier: Apache-2.0
// The integrity of a recording: the balance of its records, and all that is missing or damaged,
// where, and what helps.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host-tools/calls/places.hpp"
#include "host-tools/figures/profile/profile.hpp"
#include "host-tools/recording/reader.hpp"

namespace nopscope::host {

struct Report;

// One counter of `integrity`. A counter that spoils a recording is zero in a clean one.
struct IntegrityItem {
    const char* name;
    std::uint64_t value;
    bool spoils;
};

struct Integrity {
    std::vector<IntegrityItem> items;  // generated and its summands, corrupt_frames, gaps first
    bool at_least = false;             // generated is a lower bound
    bool complete = false;             // every core of the last session sent its final stats
    bool clean = false;                // complete, and no counter that spoils is above zero

    std::uint64_t value(std::string_view name) const;  // 0: there is no such item
};

// How many of the target's records the recording lacks, without those that flight mode overwrites.
struct Loss {
    std::uint64_t events = 0;        // records that the target generated
    std::uint64_t dropped = 0;       // the ring was full: the line is too slow
    std::uint64_t lost = 0;          // on the line
    std::uint64_t unhooked = 0;      // calls beyond the shadow stack: they have no record
    std::vector<std::string> helps;  // options of `record`, and advice

    bool any() const { return (dropped | lost | unhooked) != 0; }
    double share() const {
        return events == 0 ? 0 : static_cast<double>(dropped + lost) / static_cast<double>(events);
    }
};

// The records of a core that the recording lacks between two points in time.
struct MissingRow {
    std::uint64_t session = 0;
    unsigned core = 0;
    std::uint64_t from_ns = 0;  // since the session's first event
    std::uint64_t to_ns = 0;
    std::uint64_t lost = 0;
    std::uint64_t overwritten = 0;
    std::uint64_t dropped = 0;

    std::uint64_t all() const { return lost + overwritten + dropped; }
};

// Items that --memory had no room for. The rows "(others)" have these calls, so sums are exact.
struct Others {
    std::uint64_t calls = 0;       // of functions without a row, in the trace and in the profile
    std::uint64_t path_calls = 0;  // of paths that are not in the call tree
    std::uint64_t left_out = 0;    // values, counts of events, marks and gaps that no output has

    bool any() const { return (calls | path_calls | left_out) != 0; }
};

// `symbols` may be null, as in make_report().
Integrity integrity_of(const Profile& profile, const nsc::Counters& counters,
                       const Symbols* symbols);

// Returns how many of these functions have no patch site in the image. Without symbols it returns
// by how many they exceed the image's number of sites. No target makes a record of such a function.
std::uint64_t unknown_sites(const std::set<std::uint32_t>& offsets, const HelloInfo& hello,
                            const Symbols* symbols);

void add_missing(Report& report, const Profile& profile);
Loss loss_of(const Report& report);

}  // namespace nopscope::host
