// SPDX-License-Identifier: Apache-2.0
// The slowest calls of functions, each with the calls inside it.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "host-tools/calls/call.hpp"
#include "host-tools/calls/event_sink.hpp"

namespace nopscope::host {

// The sum of a path's calls inside the slow call. Times are as recorded, without the tracer's.
struct OutlierNode {
    std::uint32_t parent = 0;  // comes before its children; node 0 is the slow call itself
    std::uint32_t function = 0;
    std::uint64_t calls = 0;
    Nanoseconds total = 0;
    Nanoseconds self = 0;
};
struct Outlier {
    Track track;
    Nanoseconds from = 0;
    Left how{};
    Nanoseconds away = 0;  // its task did not run so long
    bool cut = false;  // it has more than max_nodes paths: `nodes` lacks the calls of the others
    std::vector<OutlierNode> nodes;

    Nanoseconds duration() const { return nodes.front().total; }
};

// Finds the `most` slowest calls of the wanted functions. A wanted function's call inside another
// such call is a part of that call. Memory: `most` trees, and one for each track.
class OutlierSink : public EventSink {
public:
    static constexpr std::size_t max_nodes = 10'000;

    // `on_cpu`: all times are without those in which the task did not run.
    OutlierSink(std::function<bool(const FunctionPlace&)> wanted, std::size_t most,
                bool on_cpu = false)
        : wanted_(std::move(wanted)), most_(most), on_cpu_(on_cpu) {}

    void on_function(std::uint32_t number, const FunctionPlace& place) override;
    void on_origin(Nanoseconds origin) override { origin_ = origin; }
    bool wants_tasks() const override { return true; }
    void on_track(const Track& track) override {
        tracks_.resize(track.number + 1);
        tasks_.resize(tracks_.size());
        if (track.task != nullptr) tasks_[track.number] = track.task->label;
    }
    void entry(const Track& track, std::uint32_t function, Nanoseconds now) override;
    void leave(const Track& track, const EndedCall& call) override;
    void finish() override {}

    // The slowest first.
    const std::vector<Outlier>& slowest() const { return slowest_; }
    // Of the call's task: outside text. Empty: the target names no task.
    const std::string& task(const Outlier& call) const { return tasks_[call.track.number]; }
    std::uint64_t calls() const { return calls_; }  // compared calls
    // From the recording's earliest record to the call's entry. Of a recording that can be read
    // only once, the first record counts, and a call that began before it has 0.
    Nanoseconds begin(const Outlier& call) const { return not_negative(call.from - origin_); }
    const FunctionPlace& place(std::uint32_t function) const { return places_.at(function).place; }

private:
    struct Known {
        FunctionPlace place;
        bool wanted = false;
    };
    struct Open {
        static constexpr std::uint32_t none = ~std::uint32_t{0};
        std::uint32_t node = none;
        Nanoseconds from = 0;
        Nanoseconds inside = 0;
        Nanoseconds beside = 0;  // time in it that does not count: the tracer's, or away
        Nanoseconds away = 0;
    };
    struct Watched {
        Outlier call;  // the outermost open call of a wanted function
        std::vector<Open> open;
        std::unordered_map<std::uint64_t, std::uint32_t> children;  // parent, function -> node
    };

    bool is_beside(std::uint32_t function) const {
        return function == tracer_function || (on_cpu_ && function == away_function);
    }
    static std::uint32_t child(Watched& on, std::uint32_t parent, std::uint32_t function);
    void keep(Outlier&& call);

    std::function<bool(const FunctionPlace&)> wanted_;
    std::size_t most_;
    bool on_cpu_;
    std::unordered_map<std::uint32_t, Known> places_;
    std::vector<Watched> tracks_;
    std::vector<std::string> tasks_;  // names by track
    std::vector<Outlier> slowest_;
    std::uint64_t calls_ = 0;
    Nanoseconds origin_ = 0;
};

}  // namespace nopscope::host
