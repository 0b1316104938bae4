// SPDX-License-Identifier: Apache-2.0
// Reads a recording's file and names its functions. Every command that shows a recording begins
// with this.
#pragma once

#include <optional>

#include "host-tools/analysis/report/load.hpp"
#include "host-tools/cli/options.hpp"

namespace nopscope::host {

// Reads the file into `sink`. Shows how far it is. Throws Error.
void read_with_progress(nsc::Reader& reader, const std::string& path, SessionSink& sink);

// The bytes of a file, or of standard input for "-". Shows how far they are read.
RecordingInput input_of_file(const std::string& path);
// The symbols of --image.
std::optional<Symbols> symbols_of_image(const ReportOptions& options);

// load() of the file that the options name. Prints warnings on stderr. Throws Error.
Loaded load(const ReportOptions& options, bool durations = false);

// load_with_events() of the file. Prints warnings on stderr. Throws Error.
Loaded load_with_events(EventSink& sink, const ReportOptions& options, std::optional<TimeAxis> axis,
                        bool durations = false);

// Passes the recording's balanced events to `sink`, and its sums if the sink wants them. Then calls
// finish() on the sink. `axis`: as BalancedStream's. Prints warnings on stderr. Throws Error.
void stream_into(EventSink& sink, const ReportOptions& options, std::optional<TimeAxis> axis);
// Warns on stderr if `functions`, the number of functions without a patch site, is not 0.
void say_unknown_sites(const ReportOptions& options, std::uint64_t functions);
// Prints each on stderr.
void say_all(const std::vector<std::string>& sentences);

}  // namespace nopscope::host
