// SPDX-License-Identifier: Apache-2.0
// A recording as a list of calls and returns in the order in which they happened, as text.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host-tools/calls/event_sink.hpp"

namespace nopscope::host {

class ReplayText final : public EventSink {
public:
    using Write = std::function<void(std::string_view line)>;
    // `write` gets the columns' names, then lines in order of time, each with its newline. Deeper
    // calls than `levels` are left out; 0: no limit.
    ReplayText(Write write, unsigned levels) : write_(std::move(write)), levels_(levels) {}

    // Events of different cores come in no order of time. So this many lines wait, on all cores.
    static constexpr std::size_t most_waiting = std::size_t{1} << 16;
    // Lines that came too late to stand in their place: more lines than wait lay between.
    std::uint64_t late_lines() const { return late_; }

    bool wants_tasks() const override { return true; }
    void on_named_tasks() override { has_tasks_ = true; }
    void on_function(std::uint32_t number, const FunctionPlace& place) override;
    void on_track(const Track& track) override;
    void on_origin(Nanoseconds origin) override { origin_ = origin; }
    void entry(const Track& track, std::uint32_t function, Nanoseconds now) override;
    void leave(const Track& track, const EndedCall& call) override;
    void point(const Track& track, std::uint32_t function, Nanoseconds now) override;
    void whole(const Track& track, std::uint32_t function, Nanoseconds from, Nanoseconds to,
               std::uint32_t depth) override;
    void absence(std::uint32_t core, const Absence& absence) override;
    void mark(const Track& track, std::uint32_t id, Nanoseconds now) override;
    void counter(const Track& track, std::uint32_t id, std::int64_t value,
                 Nanoseconds now) override;
    void value(const Track& track, const CapturedValue& value, Nanoseconds now) override;
    void sample(const Track& track, std::span<const std::uint32_t> path, Nanoseconds now) override;
    void console(std::string_view bytes, Nanoseconds now) override;
    void finish() override {
        for (Core& core : cores_) end_entry(core);
        flush();
        write_head();
    }
    // Writes all lines that wait. Of a running target other cores' earlier lines may come later.
    void flush() { write_out(0); }

private:
    struct Line {
        Nanoseconds at = 0;
        std::string text;
    };
    struct Core {
        std::deque<Line> lines;
        // The last entry, while no other event of the core has come: it may be a call without
        // calls.
        bool has_entry = false;
        Track track;
        std::uint32_t function = 0;
    };

    Core& core_of(std::uint32_t number);
    bool shows(std::size_t depth) const { return levels_ == 0 || depth < levels_; }
    std::string& begin_line(Core& core, const Track& track, Nanoseconds at, const Nanoseconds* took,
                            std::size_t depth);
    void comment(const Track& track, Nanoseconds at, std::string_view text);
    void end_entry(Core& core);
    const std::string& name(std::uint32_t function) const {
        return function < first_own_function ? names_[function]
                                             : own_names_[function - first_own_function];
    }
    void write_head();
    void write_out(std::size_t most);
    std::size_t depth_of(const Track& track) const;
    // `function` may be a number of event_sink.hpp's, such as tracer_function.
    std::string& name(std::uint32_t function) {
        const bool is_own = function >= first_own_function;
        std::vector<std::string>& names = is_own ? own_names_ : names_;
        const std::uint32_t at = function - (is_own ? first_own_function : 0);
        if (at >= names.size()) names.resize(at + 1);
        return names[at];
    }

    Write write_;
    unsigned levels_;
    Nanoseconds origin_ = 0;
    std::vector<Core> cores_;
    std::vector<std::vector<Nanoseconds>> open_;  // when the calls began, by track
    std::vector<std::string> names_;              // by function number
    std::vector<std::string> own_names_;          // by number less first_own_function
    std::vector<std::string> tasks_;              // their column, by track
    bool has_tasks_ = false;
    bool has_head_ = false;
    std::size_t waiting_ = 0;  // lines
    Nanoseconds written_ = 0;  // time of the last written line
    std::uint64_t late_ = 0;
};

}  // namespace nopscope::host
