// SPDX-License-Identifier: Apache-2.0
// A recording, read and named: what every command that shows one begins with.
#pragma once

#include <functional>
#include <memory>

#include "host-tools/analysis/events/event_sink.hpp"
#include "host-tools/cli/options.hpp"

namespace nopscope::host {

void read_with_progress(nsc::Reader& reader, const std::string& path, SessionSink& sink);

// A recording's file, and what names it: --image, else what it carries, once that has been read.
class NamedFile {
public:
    explicit NamedFile(const ReportOptions& options);

    void read(SessionSink& sink) { read_with_progress(file_, path_, sink); }
    const Symbols* symbols() const;  // null: none are known
    nsc::Counters counters() const { return file_.counters(); }
    // On stderr, when it has been read: what its reader should know.
    void say_what_is_amiss() const;

private:
    std::string path_;
    std::optional<Symbols> image_;
    nsc::Reader file_;
};

struct Loaded {
    std::unique_ptr<Profile> profile = std::make_unique<Profile>();
    Report report;
};

// With Profile::durations() if wanted. `also`: who else is told what is in it, made when the names
// can be asked for.
Loaded load(const ReportOptions& options, bool durations = false,
            const std::function<std::unique_ptr<SessionSink>(const NamedFile&)>& also = {});

// Passes the recording's balanced events to `sink`, and its sums if the sink wants them, and
// finishes it. Says on stderr what the user should know. Throws Error.
void stream_into(EventSink& sink, const ReportOptions& options, TimeAxis axis);

// Warns on stderr if there are any.
void say_unknown_sites(const ReportOptions& options, std::uint64_t functions);

}  // namespace nopscope::host
