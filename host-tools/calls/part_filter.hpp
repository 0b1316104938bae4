// SPDX-License-Identifier: Apache-2.0
// Which calls of a recording belong to a part of it. CallStream asks: it decodes all records of the
// wanted cores, and tells only these calls.
#pragma once

#include <bitset>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "host-tools/calls/event_sink.hpp"
#include "host-tools/calls/part.hpp"
#include "host-tools/calls/tasks.hpp"
#include "host-tools/image/symbols.hpp"
#include "host-tools/line/stream/session.hpp"

namespace nopscope::host {

class PartFilter {
public:
    PartFilter() = default;  // of the whole recording
    // `part.time` has both ends as times since the first record (RecordingBounds::resolved()).
    // `symbols`: returns null if no names are known. `tasks`: what is known of them before the
    // first record. A name that comes later holds for the records behind it. Fails (Exit::usage)
    // if the time ends before it begins.
    static Result<PartFilter> of(Part part, std::function<const Symbols*()> symbols,
                                 Tasks tasks = {});

    // Fails (Exit::usage) if nothing of the recording can be in the part: no function has
    // the name, no task, no core has the number, or it ended before. Call it after the last
    // session.
    Result<> check() const;

    bool has_time() const { return !part_.time.whole(); }
    bool has_tasks() const { return !part_.task.empty(); }
    bool selects() const { return !part_.under.empty(); }
    // The target's sums are of the whole recording, and of all tasks and callers.
    bool has_sums(unsigned core) const {
        return !has_time() && !has_tasks() && !selects() && wants(core);
    }
    bool begins_at_0() const { return from() == 0; }
    bool has_begin() const { return part_.time.from.has_value(); }
    bool has_end() const { return part_.time.to.has_value(); }
    Nanoseconds from() const { return part_.time.from ? part_.time.from->ns : 0; }
    Nanoseconds to() const { return part_.time.to->ns; }

    bool wants(unsigned core) const { return !part_.core || *part_.core == core; }
    bool wants_task(std::uint64_t session, unsigned core, std::uint32_t context) const {
        return !has_tasks() || tasks_.is_named(part_.task, session, core, context);
    }
    // True: the part shows the calls of this site, and all calls inside.
    bool wants_site(std::uint32_t offset);

    void on_session(const HelloInfo& hello) { base_ = hello.text_base - hello.load_bias; }
    void on_tasks(std::uint64_t session, const std::uint8_t* payload, std::size_t count) {
        (void)tasks_.on_frame(session, payload, count, budget_);
    }
    // For check(): a core's records came; a task ran that wants_task() chose; time since the first
    // record.
    void saw_core(unsigned core) { cores_.set(core & 0xff); }
    void saw_task() { found_task_ = true; }
    void saw_time(Nanoseconds at) { reached_ = std::max(reached_, at); }

private:
    Part part_;
    std::function<const Symbols*()> symbols_;
    MemoryBudget budget_{0.05};  // of `tasks_`
    Tasks tasks_;
    std::uint64_t base_ = 0;                          // link-time address of text_base
    std::unordered_map<std::uint32_t, bool> wanted_;  // by site offset
    std::vector<std::string> names_;                  // of all functions, for a sentence
    bool found_function_ = false;
    bool found_task_ = false;
    std::bitset<256> cores_;
    Nanoseconds reached_ = 0;
};

// What a recording tells of tasks, without the records.
class NamesOfTasks final : public SessionSink {
public:
    void on_session_end() override { ++session_; }
    bool on_tasks(const std::uint8_t* payload, std::size_t count) override {
        return tasks_.on_frame(session_, payload, count, budget_);
    }
    const Tasks& tasks() const { return tasks_; }

private:
    MemoryBudget budget_{0.05};
    Tasks tasks_;
    std::uint64_t session_ = 0;
};

// The ends of a range that TimeRange::needs_bounds(): first read the recording into this.
class RecordingBounds final : public EventSink {
public:
    // The range with both ends as times since the first record. Fails (Exit::usage) if a
    // marker is not in the recording.
    Result<TimeRange> resolved(const TimeRange& range) const;

    void on_origin(Nanoseconds origin) override { origin_ = end_ = origin; }
    void on_function(std::uint32_t, const FunctionPlace&) override {}
    void on_track(const Track&) override {}
    void entry(const Track&, std::uint32_t, Nanoseconds now) override { reach(now); }
    void leave(const Track&, const EndedCall& call) override { reach(call.to); }
    void point(const Track&, std::uint32_t, Nanoseconds now) override { reach(now); }
    void whole(const Track&, std::uint32_t, Nanoseconds, Nanoseconds to, std::uint32_t) override {
        reach(to);
    }
    void mark(const Track&, std::uint32_t id, Nanoseconds now) override;
    void finish() override {}

private:
    static constexpr std::size_t max_marks = std::size_t{1} << 16;
    struct Mark {
        std::uint32_t id;
        Nanoseconds at;  // since the first record
    };
    void reach(Nanoseconds now) {
        if (now > end_) end_ = now;
    }

    Nanoseconds origin_ = 0;
    Nanoseconds end_ = 0;
    std::vector<Mark> marks_;
};

}  // namespace nopscope::host
