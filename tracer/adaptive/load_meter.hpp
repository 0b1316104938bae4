// SPDX-License-Identifier: Apache-2.0
// Adaptive mode demotes functions from the trace to the profile, so that the line keeps up, and
// promotes them later. LoadMeter decides when. LeafSample (leaf_sample.hpp) chooses which to
// demote, DemotedSites (demoted_sites.hpp) which to promote. adaptive.cpp makes the requests.
//
// The pump measures the load twenty times a second. The target is overloaded if records are queued
// and arrive faster than the line can send them, at the bytes that recent records took. Then enough
// of the hottest leaves are demoted to remove the excess. A leaf is a call whose return directly
// follows its entry in the newest records. When leaves are demoted, their callers become leaves. A
// call that finds the ring full meanwhile also goes to the profile (arch/arm64/recorders.S).
//
// If less than three fifths of the line were used for two seconds, the coldest functions are
// promoted, up to seven tenths of the line. Their cells tell how often they are called. After each
// demotion a function waits twice as long.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace nopscope {

// The load of all cores in one window of time.
struct Load {
    std::uint64_t ticks = 0;
    std::uint64_t records = 0;     // claimed in the rings
    std::uint64_t overflowed = 0;  // calls that found the ring full, and made no record
    std::uint64_t sent_records = 0;
    std::uint64_t sent_bytes = 0;  // their payload
    std::uint64_t waiting = 0;     // used part of the fullest ring now, in 1024ths
};

class LoadMeter {
public:
    enum class State : std::uint8_t { steady, overloaded, underused };

    // `bytes_per_second`: the line's pace. 0: no pace, so it is measured while there is a backlog.
    void open(std::uint64_t clock_hz, std::uint64_t bytes_per_second) {
        clock_hz_ = clock_hz;
        set_pace(bytes_per_second);
    }
    void set_pace(std::uint64_t bytes_per_second) {
        pace_ = bytes_per_second - bytes_per_second / 8;  // the rest: console, stats, moves
    }
    State judge(const Load& load) {
        note_cost(load);
        const std::uint64_t per_second = bytes_a_second(load);
        const std::uint64_t restless = std::min(2 * load.ticks, quiet_);
        quiet_ = is_quiet(load, per_second) ? quiet_ + load.ticks : quiet_ - restless;
        if (per_second == 0 || record_cost_ == 0) return State::steady;
        if (load.waiting >= backlog && demand_ > carried_) return State::overloaded;
        if (quiet_ < 2 * clock_hz_) return State::steady;
        quiet_ = 0;
        return State::underused;
    }

    // After State::underused: the same state comes again after half the time.
    void ask_again() { quiet_ = clock_hz_; }

    // How many records a second the line could carry at the last load.
    std::uint64_t carried() const { return carried_; }
    // If overloaded: the part of the records to remove, in 1024ths.
    std::uint64_t excess() const { return 1024 - carried_ * 4 / 5 * 1024 / demand_; }
    // If underused: how many records a second may be added.
    std::uint64_t spare() const { return carried_ * 7 / 10 - demand_; }

private:
    static constexpr std::uint64_t backlog = 1024 / 4;  // from here on the line is late
    static constexpr std::uint64_t enough_records = 256;

    // Updates a record's cost in 1/256 bytes: the mean of the last frames' cost and the old value.
    void note_cost(const Load& load) {
        bytes_ += load.sent_bytes;
        records_ += load.sent_records;
        if (records_ < enough_records) return;
        const std::uint64_t cost = bytes_ * 256 / records_ + 1;
        record_cost_ = record_cost_ == 0 ? cost : (record_cost_ + cost) / 2;
        bytes_ = records_ = 0;
    }
    std::uint64_t bytes_a_second(const Load& load) {
        if (pace_ != 0) return pace_;
        if (load.waiting >= backlog) {
            const std::uint64_t now = load.sent_bytes * clock_hz_ / load.ticks;
            measured_ = measured_ == 0 ? now : (measured_ + now) / 2;
        }
        return measured_;
    }
    bool is_quiet(const Load& load, std::uint64_t per_second) {
        demand_ = (load.records + 2 * load.overflowed) * clock_hz_ / load.ticks;
        carried_ = record_cost_ == 0 ? 0 : per_second * 256 / record_cost_;
        return load.waiting < backlog / 2 && demand_ < carried_ * 3 / 5;
    }

    std::uint64_t clock_hz_ = 1;
    std::uint64_t pace_ = 0;
    std::uint64_t measured_ = 0;
    std::uint64_t record_cost_ = 0;  // 0: not known yet
    std::uint64_t bytes_ = 0;
    std::uint64_t records_ = 0;
    std::uint64_t quiet_ = 0;   // ticks
    std::uint64_t demand_ = 0;  // records a second
    std::uint64_t carried_ = 0;
};

}  // namespace nopscope
