// SPDX-License-Identifier: Apache-2.0
// For formats that write each call as one item, at its end.
#pragma once

#include <vector>

#include "host-tools/analysis/events/event_sink.hpp"

namespace nopscope::host {

struct EndedCall {
    std::uint64_t number = 0;  // from 1, in order of entry
    std::uint64_t parent = 0;  // 0: none
    std::uint32_t function = 0;
    std::uint32_t depth = 0;  // calls around it
    Nanoseconds from = 0;
    Nanoseconds to = 0;
    Nanoseconds duration = 0;  // `to` - `from` less the tracer's time, as in `report --raw`
    Nanoseconds self = 0;      // less the calls inside
    Nanoseconds cpu = 0;       // `duration` less the times in which the task did not run
    Left how{};
};

class CallSink : public EventSink {
public:
    void on_track(const Track& track) override {
        open_.resize(track.number + 1);
        last_ended_.resize(track.number + 1);
        seen_.resize(track.number + 1);
        seen_.back().core = track.core;
        if (track.core >= cores_.size()) cores_.resize(track.core + 1);
    }
    void entry(const Track& track, std::uint32_t function, Nanoseconds now) final {
        Core& core = run_to(track, now);
        core.in_tracer = function == tracer_function;
        open_[track.number].push_back({now, 0, 0, core.tracer, ++entries_, core.in_tracer});
    }
    void leave(const Track& track, std::uint32_t function, Nanoseconds now, Left how) final {
        Core& core = run_to(track, now);
        auto& calls = open_[track.number];
        const Open call = calls.back();
        calls.pop_back();
        core.in_tracer = !calls.empty() && calls.back().is_tracer;
        const Nanoseconds total = now - call.from;
        const Nanoseconds duration = total - (core.tracer - call.tracer);
        const Nanoseconds away = function == away_function ? duration : call.away;
        if (!calls.empty()) {
            calls.back().inside += total;
            calls.back().away += away;
        }
        last_ended_[track.number] = call.number;
        ended(track, {.number = call.number,
                      .parent = calls.empty() ? 0 : calls.back().number,
                      .function = function,
                      .depth = static_cast<std::uint32_t>(calls.size()),
                      .from = call.from,
                      .to = now,
                      .duration = duration,
                      .self = total - call.inside,
                      .cpu = duration - away,
                      .how = how});
    }

protected:
    // The number of the call that ended last on the track.
    std::uint64_t last_ended(const Track& track) const { return last_ended_[track.number]; }
    virtual void ended(const Track& track, const EndedCall& call) = 0;

private:
    struct Open {
        Nanoseconds from;
        Nanoseconds inside;
        Nanoseconds away;
        Nanoseconds tracer;  // the core's tracer time when the call began
        std::uint64_t number;
        bool is_tracer;
    };
    struct Core {
        Nanoseconds tracer = 0;  // sum of the tracer's time up to `last`
        Nanoseconds last = 0;
        bool in_tracer = false;  // after `last`

        void run_to(Nanoseconds now) {
            if (in_tracer) tracer += now - last;
            last = now;
        }
    };
    // Where a track's last entry or leave was, and that core's tracer time then.
    struct Seen {
        std::uint32_t core = 0;
        Nanoseconds tracer = 0;
    };

    Core& run_to(const Track& track, Nanoseconds now) {
        Core& core = cores_[track.core];
        core.run_to(now);
        Seen& seen = seen_[track.number];
        if (seen.core != track.core) [[unlikely]] {  // its open calls go on there
            for (Open& call : open_[track.number]) call.tracer += core.tracer - seen.tracer;
        }
        seen = {track.core, core.tracer};
        return core;
    }

    std::uint64_t entries_ = 0;
    std::vector<std::vector<Open>> open_;    // by track
    std::vector<std::uint64_t> last_ended_;  // by track
    std::vector<Seen> seen_;                 // by track
    std::vector<Core> cores_;
};

}  // namespace nopscope::host
