// SPDX-License-Identifier: Apache-2.0
// Calls for a sink: those of a line's records, and those that a test makes up.
#pragma once

#include "host-tools/figures/profile/profile.hpp"
#include "tests/unit/host/prelude.hpp"

namespace nopscope::host::test {

// Decodes what it reads, and tells a sink.
class Events : public Profile {
public:
    Events(EventSink& sink, std::function<const Symbols*()> symbols, std::string origin,
           std::optional<TimeAxis> axis = TimeAxis::wall)
        : feed_(sink, std::move(symbols), std::move(origin), axis) {
        tell(feed_);
    }
    void know_tasks(TaskLabels* tasks) { feed_.know_tasks(tasks); }

private:
    CallFeed feed_;
};

// Tells a sink calls as CallFeed does, without moves and other contexts.
class Caller {
public:
    explicit Caller(EventSink& to) : sink(to) {}

    void entry(const Track& track, std::uint32_t function, Nanoseconds now) {
        open_[track.number].push_back({++entries_, function, now});
        sink.entry(track, function, now);
    }
    void leave(const Track& track, Nanoseconds now, Left how = Left::returned) {
        auto& open = open_[track.number];
        const Open call = open.back();
        open.pop_back();
        const Nanoseconds total = now - call.from;
        const Nanoseconds tracer = call.function == tracer_function ? total : call.tracer;
        if (!open.empty()) {
            open.back().inside += total;
            open.back().tracer += tracer;
        }
        sink.leave(track, {.number = call.number,
                           .parent = open.empty() ? 0 : open.back().number,
                           .function = call.function,
                           .depth = static_cast<std::uint32_t>(open.size()),
                           .from = call.from,
                           .to = now,
                           .duration = total - tracer,
                           .self = total - call.inside,
                           .cpu = total - tracer,
                           .how = how});
    }

    EventSink& sink;

private:
    struct Open {
        std::uint64_t number = 0;
        std::uint32_t function = 0;
        Nanoseconds from = 0;
        Nanoseconds inside = 0;
        Nanoseconds tracer = 0;
    };
    std::map<std::uint32_t, std::vector<Open>> open_;  // by track
    std::uint64_t entries_ = 0;
};

}  // namespace nopscope::host::test
