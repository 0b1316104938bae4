// SPDX-License-Identifier: Apache-2.0
// Passes some calls of a stream of events to another sink: those of some functions, or those that
// take a minimum of time. All other calls are left out, and with them their captured values. Events
// that are no calls pass. A call that is left out does not leave out the calls inside, and its own
// time is its caller's.
//
// Whether a call is long enough is known only later, so the events of a core wait behind it. The
// calls that wait are open and short, so there are at most as many as the stack is deep.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "host-tools/calls/event_sink.hpp"

namespace nopscope::host {

struct CallSelection {
    std::string function;        // a glob of names; empty: all
    Nanoseconds least_time = 0;  // as in `report --raw`: without the tracer's time

    bool all() const { return function.empty() && least_time == 0; }
};
// "calls of lua*, of at least 1ms"; empty: all calls.
std::string selection_text(const CallSelection& selection);

class SelectedCalls final : public EventSink {
public:
    SelectedCalls(EventSink& inner, const CallSelection& selection)
        : inner_(inner), selection_(selection) {}

    // False: no function that was called has the name.
    bool found_function() const { return found_function_; }

    void on_function(std::uint32_t number, const FunctionPlace& place) override;
    void on_track(const Track& track) override;
    void on_origin(Nanoseconds origin) override { inner_.on_origin(origin); }
    void on_target(const HelloInfo& hello) override { inner_.on_target(hello); }
    void on_axis(TimeAxis axis) override { inner_.on_axis(axis); }
    void on_switch(const CoreSwitch& to) override;
    void on_ready(const Track& by, const Track& task, Nanoseconds now) override;
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
    void events(const Track& track, std::uint32_t function, std::span<const EventCount> counts,
                Nanoseconds now) override;
    void masked(const Track& track, std::uint32_t function, Nanoseconds from,
                Nanoseconds to) override;
    void sample(const Track& track, std::span<const std::uint32_t> path, Nanoseconds now) override;
    void console(std::string_view bytes, Nanoseconds now) override;
    void time_pair(const TimePair& pair) override { inner_.time_pair(pair); }
    bool wants_tasks() const override { return inner_.wants_tasks(); }
    void on_named_tasks() override { inner_.on_named_tasks(); }
    bool wants_sums() const override { return inner_.wants_sums(); }
    void sums(const Report& report) override { inner_.sums(report); }
    void finish() override;

private:
    enum class State : std::uint8_t { waits, shown, left_out };
    struct Waiting {
        State state = State::shown;
        bool is_entry = false;
        Track track;
        EndedCall call;               // of an entry: `function` and `from`
        Nanoseconds program = 0;      // Core::program when it came
        std::function<void()> other;  // passes an event that is no entry and no leave
    };
    struct Core {
        std::deque<Waiting> queue;
        std::uint64_t first = 0;  // number of queue.front()
        Nanoseconds last = 0;
        Nanoseconds program = 0;  // up to `last`, without the tracer's time
        bool in_tracer = false;

        void run_to(Nanoseconds now) {
            if (!in_tracer) program += now - last;
            last = now;
        }
    };
    struct Open {
        State state = State::shown;
        std::uint64_t number = 0;  // of its entry in the core's queue
        bool is_tracer = false;
        Nanoseconds left_out = 0;  // own time of calls inside that are left out
    };

    Core& core_of(std::uint32_t core);
    // The core that runs the track, at the time of an entry or a leave.
    Core& run_to(const Track& track, Nanoseconds now);
    void pass_all(Core& core);
    bool has_name(std::uint32_t function) const {
        return selection_.function.empty() || (function < named_.size() && named_[function]);
    }
    void add(Core& core, Waiting&& event);
    void pass(Waiting& event);
    template <typename Pass>
    void beside(std::uint32_t core, Pass pass);
    // Passes on what no longer waits.
    void settle(Core& core);

    EventSink& inner_;
    CallSelection selection_;
    std::vector<bool> named_;  // by function number
    bool found_function_ = false;
    std::vector<std::vector<Open>> open_;             // by track
    std::vector<std::vector<std::uint64_t>> passed_;  // by track: numbers of open calls
    std::uint64_t entries_ = 0;                       // that were passed
    std::vector<std::uint32_t> core_of_;              // by track: that of its last entry or leave
    std::vector<bool> last_is_shown_;  // by track: the call that ended last is not left out
    std::vector<Core> cores_;
};

}  // namespace nopscope::host
