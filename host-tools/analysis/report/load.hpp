// SPDX-License-Identifier: Apache-2.0
// Makes a recording into a profile and a report, and passes its events to a sink. Where its bytes
// are is the caller's: a file of the command line, or memory of a page (views/engine/).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host-tools/analysis/events/balanced_stream.hpp"
#include "host-tools/analysis/part/checkpoints.hpp"
#include "host-tools/analysis/part/part.hpp"
#include "host-tools/analysis/part/selected_calls.hpp"
#include "host-tools/analysis/profile/path_groups.hpp"
#include "host-tools/analysis/profile/profile.hpp"
#include "host-tools/analysis/report/report.hpp"
#include "host-tools/base/result.hpp"
#include "host-tools/recording/reader.hpp"

namespace nopscope::host {

// What a command shows of a recording, and how.
struct LoadOptions {
    std::string file;     // the recording's name in messages
    bool raw = false;     // show times as recorded
    bool on_cpu = false;  // show calls' times on the CPU
    SplitBy split = SplitBy::nothing;
    Part part = {};
    CallSelection calls = {};
};

// A recording's bytes.
struct RecordingInput {
    // Has the reader read all of them from their begin.
    std::function<Result<void>(nsc::Reader& reader, SessionSink& sink)> read;
    bool is_read_once = false;  // as a pipe's
};
// `bytes` must live as long as the result. `progress` is called often, with how many are read.
RecordingInput input_of(std::span<const std::uint8_t> bytes,
                        std::function<void(std::size_t)> progress = {});

// A recording and its symbols: those of an image, else, after read(), the recording's own.
class NamedRecording {
public:
    NamedRecording(RecordingInput input, const LoadOptions& options, std::optional<Symbols> image);

    // read() makes `to` of the whole recording. `profile` and `stream` are or stand in its sink.
    void make(Checkpoints& to, const Profile& profile, const BalancedStream& stream) {
        made_ = {&to, &profile, &stream};
    }
    // read() reads the part from these, which were made of the same bytes. `profile` is or stands
    // in its sink; another sink that has records must not.
    void use(const Checkpoints& from, Profile& profile) { used_ = {&from, &profile}; }

    // Passes the part that the options name to `sink`.
    Result<void> read(SessionSink& sink);
    // How many records read() unpacked, after use().
    std::uint64_t records_read() const { return records_read_; }
    // What the recording tells of tasks. Error (Exit::usage): it can be read only once; `option` is
    // the one that needs the tasks. The pointer is not null, and valid as long as this object.
    Result<const Tasks*> tasks(const std::string& option);
    // The tasks' names for a sink that wants them; none if the recording can be read only once.
    Result<Tasks> tasks_for(const EventSink& sink);
    const Symbols* symbols() const;  // null: no symbols are known
    nsc::Counters counters() const { return reader_.counters(); }
    // Warnings about the recording, each a sentence. Call it after read().
    std::vector<std::string> warnings() const;

private:
    Result<void> pass(nsc::Reader& reader, SessionSink& sink) const;
    Result<void> resolve_bounds();
    Result<Tasks> names_of_tasks();

    RecordingInput input_;
    std::string name_;
    Part part_;
    std::optional<Symbols> image_;
    nsc::Reader reader_;
    struct {
        Checkpoints* to;
        const Profile* profile;
        const BalancedStream* stream;
    } made_ = {};
    struct {
        const Checkpoints* from;
        Profile* profile;
    } used_ = {};
    std::uint64_t records_read_ = 0;
    std::optional<Tasks> tasks_;  // once they were read
};

struct Loaded {
    std::unique_ptr<Profile> profile = std::make_unique<Profile>();
    Report report;
    std::vector<std::string> warnings;  // NamedRecording's
};

// `durations`: the profile gets durations(), too. `from`: see NamedRecording::use().
Result<Loaded> load(NamedRecording& recording, const LoadOptions& options, bool durations = false,
                    const Checkpoints* from = nullptr);

// The same, and passes the calls that the options choose, and the sums, to `sink`. `axis`: as
// BalancedStream's. `to`: see NamedRecording::make().
Result<Loaded> load_with_events(NamedRecording& recording, EventSink& sink,
                                const LoadOptions& options, std::optional<TimeAxis> axis,
                                bool durations = false, Checkpoints* to = nullptr);

// Which part of the recording the options show: "10ms..20ms, core 1, calls of at least 1ms"; empty:
// all of it.
std::string shown_text(const LoadOptions& options);

}  // namespace nopscope::host
