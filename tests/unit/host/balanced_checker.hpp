// SPDX-License-Identifier: Apache-2.0
// A sink that writes down its calls and finds those that are not balanced.
#pragma once

#include "host-tools/calls/event_sink.hpp"
#include "tests/unit/host/prelude.hpp"

namespace nopscope::host::test {

class BalancedChecker : public EventSink {
public:
    std::vector<std::string> told;  // "0 +f 10", "0 -f 20 unwound"
    std::vector<std::string> wrong;
    std::vector<std::string> switches;  // "30 0 -> 1", of one context to another
    std::vector<std::string> lanes;     // "core 0: 30 0 -> 1 blocked", "core 0: 90 1 -> -"
    std::vector<std::string> ready;     // "0 makes 1 ready 30"
    std::vector<std::string> labels;    // of tracks
    std::vector<TimeAxis> axes;         // one for each session
    std::vector<Nanoseconds> origins;   // one for each session with records
    bool quiet = false;                 // `told` stays empty

    void on_function(std::uint32_t number, const FunctionPlace& place) override {
        wrong_if(!names_.try_emplace(number, place.name).second, "introduced twice: " + place.name);
    }
    void on_axis(TimeAxis axis) override { axes.push_back(axis); }
    void on_origin(Nanoseconds origin) override { origins.push_back(origin); }
    void on_track(const Track& track) override {
        wrong_if(track.number != tracks_.size(), "a track's number");
        tracks_.push_back({});
        labels.push_back(track_name(track));
    }
    void entry(const Track& track, std::uint32_t function, Nanoseconds now) override {
        at(track, now);
        tracks_[track.number].open.push_back(function);
        say("{} +{} {}", track.number, name(function), now);
    }
    void leave(const Track& track, const EndedCall& call) override {
        const auto [function, now, how] = std::tuple(call.function, call.to, call.how);
        at(track, now);
        auto& open = tracks_[track.number].open;
        const bool is_innermost = !open.empty() && open.back() == function;
        wrong_if(!is_innermost, "a call ends that is not innermost");
        if (is_innermost) open.pop_back();
        const std::string left = how == Left::returned ? "" : std::string(" ") + left_text(how);
        say("{} -{} {}{}", track.number, name(function), now, left);
    }
    void point(const Track& track, std::uint32_t function, Nanoseconds now) override {
        at(track, now);
        say("{} .{} {}", track.number, name(function), now);
    }
    void whole(const Track& track, std::uint32_t function, Nanoseconds from, Nanoseconds to,
               std::uint32_t depth) override {
        wrong_if(from > to, "a call that ends before it begins");
        say("{} ={} {}..{} depth {}", track.number, name(function), from, to, depth);
    }
    void absence(std::uint32_t core, const Absence& absence) override {
        Nanoseconds& before = absent_[core][absence.lost == 0 && absence.overwritten == 0];
        wrong_if(absence.from < before || absence.to < absence.from, "parts that overlap");
        before = absence.to;
        say("core {} lacks {} {} {}, {}..{}", core, absence.lost, absence.overwritten,
            absence.dropped, absence.from, absence.to);
    }
    void mark(const Track& track, std::uint32_t id, Nanoseconds now) override {
        say("{} mark {} {}", track.number, id, now);
    }
    void counter(const Track& track, std::uint32_t id, std::int64_t value, Nanoseconds) override {
        say("{} counter {} {}", track.number, id, value);
    }
    void value(const Track& track, const CapturedValue& captured, Nanoseconds) override {
        say("{} {} {} {}", track.number, name(captured.function), captured.name, captured.value);
    }
    void events(const Track& track, std::uint32_t function, std::span<const EventCount> counts,
                Nanoseconds) override {
        for (const EventCount& one : counts)
            say("{} {} {:#x}: {}", track.number, name(function), one.number, one.count);
    }
    void masked(const Track& track, std::uint32_t function, Nanoseconds from,
                Nanoseconds to) override {
        wrong_if(from > to, "a masked time that ends before it begins");
        say("core {} masked by {} {}..{}", track.core, name(function), from, to);
    }
    void on_switch(const CoreSwitch& to) override {
        static constexpr const char* ways[] = {"", " preempted", " blocked", " gave way", " ended"};
        std::optional<std::uint32_t>& runs = running_[to.core];
        for (const std::optional<Track>& one : {to.from, to.to}) {
            wrong_if(one && (one->core != to.core || one->number >= tracks_.size()),
                     "a switch of another core");
        }
        // If there is neither a track before nor one behind, they are equal, too.
        wrong_if(runs != number(to.from) || number(to.from) == number(to.to), "a wrong switch");
        wrong_if(to.at < switched_[to.core], "a switch before another");
        switched_[to.core] = to.at;
        runs = number(to.to);
        const auto text = [](const std::optional<Track>& track) {
            return track ? std::to_string(track->number) : "-";
        };
        const std::string both = fmt::format("{} {} -> {}", to.at, text(to.from), text(to.to));
        const char* const way = ways[static_cast<unsigned>(to.how)];
        lanes.push_back(fmt::format("core {}: {}{}", to.core, both, way));
        if (to.from && to.to) switches.push_back(both);
    }
    void on_ready(const Track& by, const Track& task, Nanoseconds now) override {
        wrong_if(running_[by.core] != by.number, "what does not run makes ready");
        ready.push_back(fmt::format("{} makes {} ready {}", by.number, task.number, now));
    }
    void sample(const Track& track, std::span<const std::uint32_t> path, Nanoseconds) override {
        std::string text;
        for (const std::uint32_t function : path) text += " " + name(function);
        say("{} sample{}", track.number, text);
    }
    void time_pair(const TimePair& pair) override {
        say("{} is {} +- {}{}", pair.time, pair.utc_ns, pair.error_ns,
            pair.exchanged ? " exchanged" : "");
    }
    void finish() override {
        for (const auto& [core, runs] : running_)
            wrong_if(runs.has_value(), "a core that still runs at the end");
        for (const Of& track : tracks_)
            wrong_if(!track.open.empty(), "a call is still open at the end");
    }

private:
    struct Of {
        std::vector<std::uint32_t> open;
        Nanoseconds last = 0;
    };
    void wrong_if(bool is_so, std::string_view what) {
        if (is_so) wrong.emplace_back(what);
    }
    static std::optional<std::uint32_t> number(const std::optional<Track>& track) {
        return track ? std::optional(track->number) : std::nullopt;
    }
    std::string name(std::uint32_t function) {
        const auto found = names_.find(function);
        if (found != names_.end()) return found->second;
        wrong.push_back("a function that nobody introduced");
        return "?";
    }
    void at(const Track& track, Nanoseconds now) {
        wrong_if(now < tracks_.at(track.number).last, "time went back");
        tracks_[track.number].last = now;
    }
    template <typename... Values>
    void say(fmt::format_string<Values...> format, Values&&... values) {
        if (!quiet) told.push_back(fmt::format(format, std::forward<Values>(values)...));
    }

    std::map<std::uint32_t, std::string> names_;
    std::vector<Of> tracks_;
    std::map<std::uint32_t, std::optional<std::uint32_t>> running_;  // by core: a track
    std::map<std::uint32_t, Nanoseconds> switched_;                  // by core
    std::map<std::uint32_t, Nanoseconds[2]> absent_;
};

}  // namespace nopscope::host::test
