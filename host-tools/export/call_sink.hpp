// SPDX-License-Identifier: Apache-2.0
// For formats that have a call as one thing, when it is over.
#pragma once

#include <vector>

#include "host-tools/export/event_sink.hpp"

namespace nopscope {

struct EndedCall {
    std::uint64_t number = 0;  // from 1, in order of entry
    std::uint64_t parent = 0;  // 0: it is outermost
    std::uint32_t function = 0;
    std::uint32_t depth = 0;  // calls around it
    Nanoseconds from = 0;
    Nanoseconds to = 0;
    Nanoseconds self = 0;  // without the calls inside
    Left how{};
};

class CallSink : public EventSink {
public:
    void on_track(const Track& track) override { open_.resize(track.number + 1); }
    void entry(const Track& track, std::uint32_t, Nanoseconds now) final {
        open_[track.number].push_back({now, 0, ++entries_});
    }
    void leave(const Track& track, std::uint32_t function, Nanoseconds now, Left how) final {
        auto& calls = open_[track.number];
        const Open call = calls.back();
        calls.pop_back();
        const Nanoseconds total = now - call.from;
        if (!calls.empty()) calls.back().inside += total;
        ended(track, {.number = call.number,
                      .parent = calls.empty() ? 0 : calls.back().number,
                      .function = function,
                      .depth = static_cast<std::uint32_t>(calls.size()),
                      .from = call.from,
                      .to = now,
                      .self = total - call.inside,
                      .how = how});
    }

protected:
    virtual void ended(const Track& track, const EndedCall& call) = 0;

private:
    struct Open {
        Nanoseconds from;
        Nanoseconds inside;
        std::uint64_t number;
    };
    std::uint64_t entries_ = 0;
    std::vector<std::vector<Open>> open_;  // by track
};

}  // namespace nopscope
