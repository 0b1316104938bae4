// SPDX-License-Identifier: Apache-2.0
// Reads a recording and names its functions. Every command that shows a recording begins with this.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "host-tools/calls/selected_calls.hpp"
#include "host-tools/cli/options.hpp"
#include "host-tools/figures/report/make_report.hpp"
#include "host-tools/line/stream/damage.hpp"
#include "host-tools/recording/reader.hpp"

namespace nopscope::host {

// `damaged` gets the line's damaged chunks, whatever part `sink` wants.
void read_with_progress(nsc::Reader& reader, const std::string& path, SessionSink& sink,
                        DamagedChunks* damaged = nullptr);

// A recording's file and its symbols: from --image, else from the recording, after read().
class NamedFile {
public:
    explicit NamedFile(const ReportOptions& options);

    // Reads the part that the options name into the profile. Throws Error.
    void read(Profile& profile);
    // What the recording tells of tasks. Throws Error (Exit::usage) for standard input, which can
    // be read only once; `option` is the one that needs it.
    const Tasks& tasks(const std::string& option) const;
    const Symbols* symbols() const;  // null: no symbols are known
    nsc::Counters counters() const { return file_.counters(); }
    // What happened to the line's bytes, one sentence. Empty: none is damaged.
    std::string damage() const { return damaged_.sentence(counters().line, counters().stream); }
    // Why a report cannot be made, with what may explain it.
    std::string no_report(const std::string& why) const;
    // Prints warnings about the recording on stderr. Call it after read().
    void say_what_is_amiss() const;

private:
    Tasks names_of_tasks() const;

    std::string path_;
    Part part_;
    std::optional<Symbols> image_;
    nsc::Reader file_;
    DamagedChunks damaged_;
    mutable std::optional<Tasks> tasks_;  // once they were read
};

struct Loaded {
    std::unique_ptr<Profile> profile = std::make_unique<Profile>();
    Report report;
};

// `durations`: the profile gets durations(), too. `named` gets the symbols in the end; null: none
// are known.
Loaded load(const ReportOptions& options, bool durations = false,
            const std::function<void(const Symbols*)>& named = {});

// The same, and passes the calls that the options choose, and the sums, to `sink`. Then calls
// finish() on it. `axis`: as CallFeed's.
Loaded load_with_events(EventSink& sink, const ReportOptions& options, std::optional<TimeAxis> axis,
                        bool durations = false);

// The same for an export: tells the sink which part it gets, and warns on stderr. Throws Error.
void stream_into(EventSink& sink, const ReportOptions& options, std::optional<TimeAxis> axis);
// Warns on stderr if `functions`, the number of functions without a patch site, is not 0.
void say_unknown_sites(const ReportOptions& options, std::uint64_t functions);

}  // namespace nopscope::host
