// SPDX-License-Identifier: Apache-2.0
// A running target, looked at: a thread reads its line into a profile, and other threads look at that, ask
// things of the target, and have the line recorded on the side, at any time.
//
//     Live live({.line = {.from = "unix:/tmp/target", .image = "demo.elf"}});
//     LiveView now = live.view();                              // as `report` would have it if the session ended now
//     live.ask({.words = {"mark", "7"}}).get().text        // "ok"
//
// Calls that are open count up to the last event, since a firmware's main() never returns: a view ends the
// session in a copy of the profile (Profile's copy constructor), and the decoder's loop knows nothing of it.
//
// Memory does not grow with time: it is bounded as a Profile's is, by functions and paths.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "host-tools/target/control/ending.hpp"
#include "host-tools/analysis/events/balanced_stream.hpp"
#include "host-tools/analysis/timeline/timeline.hpp"
#include "host-tools/target/stream/tee.hpp"
#include "host-tools/live/fair_mutex.hpp"
#include "host-tools/live/reconnecting_source.hpp"
#include "host-tools/live/live_recording.hpp"
#include "host-tools/live/watch.hpp"
#include "host-tools/analysis/report/report.hpp"

namespace nopscope::host {

struct LiveOptions {
    LineOptions line;
    std::string record = {};  // into this file from the beginning; empty: not
    // Functions that a core is in when it has nothing to do, by globs of their names.
    std::vector<std::string> idle = {"*idle*", "*wfi*", "*wait_for_interrupt*"};
    bool timeline = false;  // a LiveView has it; some 140 instructions an event
};

enum class LineState : std::uint8_t {
    waiting,   // for a hello
    running,   // a session's frames come
    finished,  // the target has said that it is: a reset begins another session
    lost,      // it is tried again every second
    over,      // and will not come back: exec: and file: end
    failed,    // something makes going on pointless: LiveStatus::sentence
};
const char* name_of(LineState state);  // "waiting", ...

struct CoreStatus {
    unsigned number = 0;
    std::uint64_t records = 0;  // delivered, in the session that is open
    std::uint64_t dropped = 0;
    std::uint64_t overwritten = 0;
    std::uint64_t lost = 0;
    // In all sessions, in traced calls of functions that are not idle ones, up to the core's last event and
    // without the tracer's time; code that is not traced is not in it. Only in a LiveView.
    std::uint64_t busy_ticks = 0;
};

struct SideRecording {
    std::string path;  // empty: there was none yet
    bool on = false;
    std::uint64_t line_bytes = 0;
    std::uint64_t file_bytes = 0;
    std::uint64_t records = 0;
    std::string error;          // it has ended because of this; a sentence
};

struct LiveStatus {
    std::chrono::steady_clock::time_point at{};
    std::string from;
    LineState state{};
    std::string sentence;       // why it is lost, over or failed
    std::uint64_t resets = 0;   // sessions after the first
    std::uint64_t losses = 0;   // of the line
    std::string note;           // the last thing that a person should know besides, a sentence
    std::optional<HelloInfo> hello;  // the last session's
    LineCounters line;
    StreamCounters stream;
    std::vector<CoreStatus> cores;
    std::string console;             // its end: outside bytes, sanitise before showing
    std::uint64_t console_bytes = 0;  // all
    SideRecording recording;
    bool takes_commands = false;     // they can be sent at all; whether the target takes them it says itself
};

struct LiveView {
    LiveStatus status;
    std::unique_ptr<Profile> profile;  // ended; with durations
    std::unique_ptr<Timeline> timeline;  // null: LiveOptions::timeline
    std::optional<Report> report;      // nothing: no hello was heard yet
    std::uint64_t target_ticks = 0;    // Profile::duration_ticks
};

class Live {
public:
    // Opens the line. Throws Error.
    explicit Live(LiveOptions options);
    // For tests: `open` is what opens it, again and again if it `comes_back`.
    Live(LiveOptions options, ReconnectingSource::Open open, bool comes_back);
    // Ends a recording on the side, too.
    ~Live();
    Live(const Live&) = delete;
    Live& operator=(const Live&) = delete;

    // All of these from any thread.

    LiveStatus status();
    // Takes a copy of what is known, some milliseconds at 100,000 paths. The thread that reads waits for the
    // copy only.
    LiveView view(bool raw = false);
    // Asked between two reads; one after another. Answers within some seconds, at the line's end at the latest.
    // What is wrong is in the answer, a sentence.
    std::future<ControlAnswer> ask(ControlRequest request);
    // Call before stop_recording() if a person chose the end. The target stops tracing (unless
    // LineOptions::keep_tracing) and sends what it has counted. Waits for this until `give_up`
    // returns true; then reads nothing more. The text is empty, or says what did not come.
    ControlAnswer end_recording(const std::function<bool()>& give_up);
    // From now on, all that is heard into this file. Throws Error, also where one is on already.
    void start_recording(const std::string& path);
    // Throws Error, also where none is on. Says what is in it.
    SideRecording stop_recording();

    const Symbols* symbols() const { return symbols_ ? &*symbols_ : nullptr; }

private:
    struct Asked {
        ControlRequest request;
        bool is_end = false;  // no request: the end of the recording
        std::promise<ControlAnswer> answer;
    };
    void start(ReconnectingSource::Open open, bool comes_back);
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
    void end_recording(nsc::EndReason reason);

    const LiveOptions options_;
    std::optional<Symbols> symbols_;
    bool takes_commands_ = false;

    // The reading thread's.
    std::unique_ptr<Source> source_;
    ReconnectingSource* lasting_ = nullptr;  // the same; null: it does not come back
    std::unique_ptr<Steering> steering_;
    bool steers_ = false;  // the target is known to take commands, or has to
    std::uint64_t losses_taken_ = 0;
    std::string last_error_;  // line of the command behind exec:

    FairMutex mutex_;  // of what follows
    Profile profile_{MemoryBudget(0.4)};  // a view copies it
    Timeline timeline_;
    BalancedStream events_;  // for the timeline
    Watch watch_;
    Ending ending_;
    Tee tee_;
    std::unique_ptr<LineReader> line_;  // its wait() is the reading thread's
    std::unique_ptr<LiveRecording> recording_;
    SideRecording last_recording_;  // that is over
    LineState end_state_ = LineState::waiting;  // over or failed, once it is
    std::string end_sentence_;
    std::vector<CoreStatus> cores_at_end_;
    std::string why_lost_;  // empty: it is not
    std::uint64_t losses_ = 0;
    std::string note_;

    std::mutex asked_mutex_;  // of what follows
    std::deque<Asked> asked_;
    bool takes_no_more_ = false;

    std::atomic<bool> stop_ = false;
    std::thread thread_;
};

}  // namespace nopscope::host
