// SPDX-License-Identifier: Apache-2.0
// Records -> a balanced stream of entries and leaves on tracks, for formats that have every event. The
// innermost loop of those exports: one virtual call a record, no allocation in the steady state.
//
// What makes it balanced, decided here once for all formats:
//
//   gap      Records are missing. Every call that is open on the core ends there (Left::gap): which of them
//            went on is known later or never, and no format can take an end back. Calls after it have
//            no callers, as in `graph` those below "(callers lost in a gap)". A return of one that was
//            ended so means nothing more.
//   unwound  A return of a call that is not innermost ends those above it, too. Where the target has told of one that longjmp
//            left, it unwinds until the next entry or return: that time is the tracer's, as in CallDecoder.
//   open     What is open when its session ends, ends with the core's last event.
//   tracer   Between tracer_begin and tracer_end the track shows `tracer_function`, so that no call has the time as its own.
//            On TimeAxis::without_tracer the clock stands still instead, as CallDecoder's does.
//   context  While another context runs, a track that has open calls shows `away_function`, for the same reason.
//   time     Of a core it never goes back: a clock that does stands still.
//   orphans  Returns of calls that are not open are left out.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "host-tools/image/symbols.hpp"
#include "host-tools/analysis/events/event_sink.hpp"
#include "host-tools/analysis/events/tick_time.hpp"
#include "host-tools/target/stream/session.hpp"
#include "host-tools/analysis/profile/captured.hpp"
#include "host-tools/analysis/profile/function_table.hpp"
#include "host-tools/analysis/profile/complete_calls.hpp"

namespace nopscope::host {

class BalancedStream : public SessionSink {
public:
    static constexpr std::size_t max_depth = std::size_t{1} << 16;  // entries beyond are points
    static constexpr std::size_t max_contexts = 1024;               // of a core; more count as the last one

    // `symbols` may give null: functions are then named by address. `origin` is what errors begin with. `axis`: nothing
    // means each session's own: without_tracer if it has one core and is lossless, where the program stands still while
    // the core waits for the line; else wall.
    BalancedStream(EventSink& sink, std::function<const Symbols*()> symbols, std::string origin,
                   std::optional<TimeAxis> axis = TimeAxis::wall)
        : sink_(sink), symbols_(std::move(symbols)), origin_(std::move(origin)), axis_(axis) {}

    // Throws Error when the symbols are of another image. on_trace() and on_missing() throw it when the tracer's time
    // is cut out and a second core has records.
    void on_session(const HelloInfo& hello) override;
    void on_session_end() override;
    void on_trace(unsigned core, const TraceBatch& batch) override;
    void on_missing(unsigned core, const MissingPart& part) override;
    void on_console(std::string_view text) override;
    void on_clock_pair(const ClockPair& pair) override;

    std::uint64_t sessions() const { return sessions_; }
    // Of calls that were ended at a gap, or whose entry is not known.
    std::uint64_t orphan_returns() const { return orphan_returns_; }
    // As unknown_sites() of report.hpp.
    std::uint64_t unknown_sites() const { return unknown_sites_; }

private:
    struct Open {
        static constexpr std::uint32_t no_call = 1u << 2;  // of `plain_end`: as in OpenCall
        std::uint64_t index = 0;  // record index of the entry
        std::uint32_t function = 0;
        std::uint32_t plain_end = no_call;  // the return that ends it, all but the clock
    };
    struct Context {
        Track track;
        std::vector<Open> stack;  // open[0] is none's
        DurationRecord duration;
        bool away = false;
    };
    struct Core {
        unsigned number = 0;
        std::vector<std::unique_ptr<Context>> contexts;
        Context* current = nullptr;
        WithData with_data;
        Nanoseconds now = 0;
        Nanoseconds before = 0;  // of the last record but one
        std::uint64_t clock = 0;  // of the last record
        Ticks cut = 0;            // the tracer's time, if it is cut out
        Stops stops;              // when it was
        bool unwinding = false;
        Nanoseconds absent_to[2] = {0, 0};  // lost, dropped
    };

    struct Missing {
        Core* core;
        MissingPart part;
    };

    Core& core(unsigned number);
    void tell_clock_pair();
    // Passes on the missing parts that end by `reached` on the session's clock, cut to the session.
    void tell_absences(std::uint64_t reached);
    void tell(Core& core, const MissingPart& part);
    static void cut(Core& core, std::uint64_t clock);
    Nanoseconds time_at(const Core& core, std::uint64_t clock);
    Context& context(Core& core, std::uint32_t number);
    // The core left the context that ran at `left`.
    void enter(Core& core, Context& to, Nanoseconds left);
    std::uint32_t site(std::uint32_t offset);
    void introduce_site(std::uint32_t number, std::uint32_t offset);
    void introduce_own(std::uint32_t function);
    void begin(Core& core, std::uint32_t function, std::uint64_t index, std::uint32_t plain_end);
    void end(Core& core, Context& of, Left how);
    void end_all(Core& core, Left how);
    void on_entry(Core& core, std::uint32_t offset, std::uint64_t index);
    void on_return(Core& core, const protocol::Event& event);
    void end_unwinding(Core& core, const protocol::StampedRecord& next);
    void on_extended(Core& core, const protocol::Event& event);
    void on_tracer_end(Core& core);
    void on_data(Core& core);
    void on_values(Core& core);
    void on_sample(Core& core);
    std::uint32_t sampled(std::int64_t offset, bool is_return);
    static std::size_t find(const Context& context, const protocol::Event& event);

    EventSink& sink_;
    std::function<const Symbols*()> symbols_;
    std::string origin_;
    std::optional<TimeAxis> axis_;
    bool cuts_ = false;  // in this session
    TickTime time_;
    MemoryBudget budget_{0.5};
    FunctionTable functions_;
    std::uint32_t introduced_ = 1;  // the table's numbers below it; they come in order
    bool introduced_none_ = false;
    std::unordered_map<std::uint64_t, std::uint32_t> sampled_;  // by address
    std::uint32_t own_introduced_ = 0;
    std::vector<std::uint32_t> path_;
    std::array<std::unique_ptr<Core>, 256> cores_;
    unsigned core_count_ = 0;
    std::optional<ClockPair> clock_pair_;  // waits for the session's first record
    std::vector<Missing> absences_;        // wait for the records behind them
    std::uint64_t first_clock_ = 0;        // of the session's records; 0: there is none yet
    std::uint64_t last_clock_ = 0;
    std::uint64_t base_ = 0;  // link-time address of text_base
    std::uint32_t tracks_ = 0;
    std::uint64_t sessions_ = 0;
    std::uint64_t orphan_returns_ = 0;
    std::uint64_t site_count_ = 0;  // of the image
    std::uint64_t functions_introduced_ = 0;
    std::uint64_t unknown_sites_ = 0;
};

}  // namespace nopscope::host
