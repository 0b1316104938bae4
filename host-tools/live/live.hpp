// SPDX-License-Identifier: Apache-2.0
// A view of a running target. One thread reads the line into a profile. Other threads may at any
// time look at the profile, send commands to the target, and record the line into a file.
//
//     Live live({.line = {.from = "unix:/tmp/target", .image = "demo.elf"}});
//     LiveView now = live.view();  // what `report` would show if the session ended now
//     live.ask({.words = {"mark", "7"}}).get().text  // "ok"
//
// A firmware's main() never returns, so a view counts open calls up to the last event. It ends the
// session in a copy of the profile (Profile's copy constructor); the decoder does not notice.
//
// Memory does not grow with time. Functions and paths bound it, as they bound a Profile's.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "host-tools/calls/moves_in_order.hpp"
#include "host-tools/command/ending.hpp"
#include "host-tools/figures/report/report.hpp"
#include "host-tools/figures/timeline/timeline.hpp"
#include "host-tools/line/stream/tee.hpp"
#include "host-tools/live/live_recording.hpp"
#include "host-tools/live/reconnecting_source.hpp"

namespace nopscope::host {

// A waiting thread gets this mutex next, even if its holder locks it again at once. Without this,
// the thread that reads a fast line would keep out the threads that look at it.
class FairMutex {
public:
    void lock() {
        const std::lock_guard next(next_);
        held_.lock();
    }
    void unlock() { held_.unlock(); }

private:
    std::mutex next_;
    std::mutex held_;
};

struct LiveOptions {
    LineOptions line;
    std::string record = {};  // records into this file from the beginning; empty: no file
    // Globs of function names: a core in such a function has nothing to do.
    std::vector<std::string> idle = {"*idle*", "*wfi*", "*wait_for_interrupt*"};
    // Fills LiveView::timeline; costs about 140 instructions for each event.
    bool timeline = false;
    bool on_cpu = false;  // the times of calls are those on the CPU
    Part part = {};       // the figures are only of this core or these tasks; it has no time range
};

enum class LineState : std::uint8_t {
    waiting,   // no hello came yet
    running,   // a session's frames arrive
    finished,  // the target has ended its recording; a reset begins another session
    lost,      // the line is lost; the host tries to open it each second
    over,      // the line has ended for good (exec:, file:)
    failed,    // an error ended the reading; LiveStatus::sentence names it
};
const char* name_of(LineState state);

struct CoreStatus {
    unsigned number = 0;
    std::uint64_t records = 0;  // delivered, in the current session and since FiguresBegin
    std::uint64_t dropped = 0;
    std::uint64_t overwritten = 0;
    std::uint64_t lost = 0;
    // Time in traced calls of functions that are not idle ones, in all sessions, up to the core's
    // last event, without the tracer's time. Untraced code does not count. Only a LiveView has it.
    std::uint64_t busy_ticks = 0;
};

struct SideRecording {
    std::string path;  // empty: there was no recording yet
    bool on = false;
    std::uint64_t line_bytes = 0;
    std::uint64_t file_bytes = 0;
    std::uint64_t records = 0;
    std::string error;  // why it has ended early, a sentence
};

// When the figures of a view began: with the line, at a zero(), or when a part was chosen.
struct FiguresBegin {
    std::uint64_t number = 0;  // of these figures: two views of one number can be compared
    std::chrono::steady_clock::time_point at{};
    std::chrono::system_clock::time_point time{};
    std::string request;  // "zero", or the filter: "trace lua*"; empty: none was made
};

// The local time of the begin: "12:03:04".
std::string clock_text(const FiguresBegin& begin);

struct LiveStatus {
    std::chrono::steady_clock::time_point at{};
    std::string from;
    LineState state{};
    std::string sentence;            // why the state is lost, over or failed
    FiguresBegin begin;              // the numbers below, and the view's, count from then on
    std::string part;                // part_text(): "core 1"; empty: all cores and tasks
    std::uint64_t resets = 0;        // sessions after the first
    std::uint64_t losses = 0;        // how often the line was lost
    std::string note;                // the last message for a person, a sentence
    std::optional<HelloInfo> hello;  // the last session's hello
    LineCounters line;
    StreamCounters stream;
    std::vector<CoreStatus> cores;
    std::string console;              // its last bytes, from outside: sanitise before showing
    std::uint64_t console_bytes = 0;  // of all the text so far
    SideRecording recording;
    // The host can send commands. The target itself says whether it accepts them.
    bool takes_commands = false;
};

struct LiveView {
    LiveStatus status;
    std::unique_ptr<Profile> profile;    // of the part that is shown; its session has ended
    std::unique_ptr<Timeline> timeline;  // null without LiveOptions::timeline
    std::optional<Report> report;        // nothing: no hello came yet
    std::uint64_t target_ticks = 0;
};

class Live : private Figures {
public:
    // Opens the line. Throws Error.
    explicit Live(LiveOptions options);
    // For tests: `open` opens the line, and opens it again after a loss if `comes_back`.
    Live(LiveOptions options, ReconnectingSource::Open open, bool comes_back);
    // Also ends a recording.
    ~Live();
    Live(const Live&) = delete;
    Live& operator=(const Live&) = delete;

    // Any thread may call each of these.

    LiveStatus status();
    // Copies the profile (some ms at 100,000 paths). The reading thread waits during the copy only.
    LiveView view(bool raw = false);
    // The reading thread sends the requests between two reads, one after another. The answer comes
    // within some seconds, or when the line ends. It holds an error as a sentence.
    std::future<ControlAnswer> ask(ControlRequest request);
    // Call before stop_recording() if a person chose the end. The target stops tracing (unless
    // LineOptions::keep_tracing) and sends what it has counted. Waits for this until `give_up`
    // returns true; then reads nothing more. The text is empty, or says what did not come.
    ControlAnswer end_recording(const std::function<bool()>& give_up);
    // Records all that arrives from now on. Throws Error, also if a recording is on already.
    void start_recording(const std::string& path);
    // Returns what the recording holds. Throws Error, also if no recording is on.
    SideRecording stop_recording();
    // Views show only this core or these tasks, with figures that begin now. A whole part: the
    // figures of all again, which were counted meanwhile. Throws Error (Exit::usage) if the target
    // has no such core.
    void show(const Part& part);

    const Symbols* symbols() const { return symbols_ ? &*symbols_ : nullptr; }

private:
    struct Asked {
        ControlRequest request;
        bool is_end = false;  // ends the recording; `request` is empty
        std::promise<ControlAnswer> answer;
    };
    void start(ReconnectingSource::Open open, bool comes_back);
    void zero(const std::string& request, std::optional<std::uint64_t> clock) override;
    void show_locked(const Part& part);
    FiguresBegin begin_now(const std::string& request);
    void run();
    bool turn();
    void between_turns();
    void end(LineState state, std::string sentence);
    std::string take_errors();
    void note(const std::string& sentence);
    std::optional<Asked> next_asked();
    ControlAnswer end_of_recording();
    void write_tape(LineReader::Clock::time_point now);
    LiveStatus status_locked() const;
    std::vector<CoreStatus> cores_locked() const;
    SideRecording recording_locked() const;
    std::unique_ptr<LiveRecording> drop_recording();
    void end_recording(nsc::EndReason reason);

    const LiveOptions options_;
    std::optional<Symbols> symbols_;
    bool takes_commands_ = false;

    // Only the reading thread uses these.
    std::unique_ptr<Source> source_;
    ReconnectingSource* lasting_ = nullptr;  // is *source_; null: a lost line stays lost
    std::unique_ptr<Steering> steering_;
    bool steers_ = false;  // the target accepts commands, or steering needs it to
    std::uint64_t losses_taken_ = 0;
    std::string last_error_;  // last line that the command of exec: wrote to standard error

    FairMutex mutex_;  // guards the members below, up to note_
    Profile profile_{MemoryBudget(0.4)};
    std::unique_ptr<Profile> part_;  // the figures that views show instead of `profile_`'s
    Part shown_part_;
    std::uint64_t begins_ = 0;
    FiguresBegin begin_;
    FiguresBegin part_begin_;
    CountersSince counters_;
    std::vector<CoreStatus> cores_at_zero_;
    std::uint64_t session_at_zero_ = 0;
    std::uint64_t losses_at_zero_ = 0;
    Timeline timeline_;
    CallFeed feed_{timeline_, [this] { return symbols(); }, options_.line.from, std::nullopt};
    MovesInOrder figures_{profile_};  // feeds the sinks that follow calls
    Watch watch_{symbols(), &figures_};
    Ending ending_;
    Tee tee_{figures_, watch_};
    std::unique_ptr<LineReader> line_;  // only the reading thread calls its wait()
    std::unique_ptr<LiveRecording> recording_;
    SideRecording last_recording_;              // the one that ended last
    LineState end_state_ = LineState::waiting;  // waiting until the line is over or failed
    std::string end_sentence_;
    std::vector<CoreStatus> cores_at_end_;
    std::string why_lost_;  // empty: the line is not lost
    std::uint64_t losses_ = 0;
    std::string note_;

    std::mutex asked_mutex_;  // guards the two members below
    std::deque<Asked> asked_;
    bool takes_no_more_ = false;

    std::atomic<bool> stop_ = false;
    std::thread thread_;
};

// For `top -o` and `serve -o`, when the view ends. Ends the recording, if one is on: the target
// stops and sends what it has counted. Then says what the last recording holds. `given_up` returns
// true when a person no longer waits for the target. Throws Error if the recording is not whole, or
// if nothing could be recorded.
Exit finish_recording(Live& live, const std::function<bool()>& given_up);

}  // namespace nopscope::host
