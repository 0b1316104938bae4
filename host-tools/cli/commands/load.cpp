// SPDX-License-Identifier: Apache-2.0
#include "host-tools/cli/commands/load.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "host-tools/analysis/events/task_labels.hpp"
#include "host-tools/base/error.hpp"
#include "host-tools/base/progress.hpp"
#include "host-tools/base/say.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/image/read_symbols.hpp"
#include "host-tools/recording/read_file.hpp"
#include "host-tools/target/stream/moves_in_order.hpp"

namespace nopscope::host {
namespace {

// A pipe gives its bytes once: standard input, and what a shell's <(...) opens.
bool is_read_once(const std::string& path) {
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    return path == "-" || std::filesystem::is_fifo(status) || std::filesystem::is_socket(status) ||
           std::filesystem::is_character_file(status);
}

// Throws Error (Exit::usage) if no function that was called has the name in `selection`.
void check_found(const SelectedCalls& selected, const CallSelection& selection) {
    if (selection.function.empty() || selected.found_function()) return;
    throw Error(fmt::format("--function: no function that was called is named {}",
                            for_cell(selection.function)),
                Exit::usage);
}

NamedRecording recording_of(const ReportOptions& options) {
    return {input_of_file(options.file), options, symbols_of_image(options)};
}

}  // namespace

void read_with_progress(nsc::Reader& reader, const std::string& path, SessionSink& sink) {
    MovesInOrder in_order(sink);
    or_throw(input_of_file(path).read(reader, in_order));
}

RecordingInput input_of_file(const std::string& path) {
    return {.read =
                [path](nsc::Reader& reader, SessionSink& sink) {
                    Progress progress("reading " + for_terminal(path));
                    return nsc::read_file(reader, path, sink,
                                          [&](std::uint64_t bytes, std::uint64_t total) {
                                              progress.at(bytes, total);
                                          });
                },
            .is_read_once = is_read_once(path)};
}

std::optional<Symbols> symbols_of_image(const ReportOptions& options) {
    if (options.image.empty()) return std::nullopt;
    return read_symbols(ElfFile::open(options.image));
}

Loaded load(const ReportOptions& options, bool durations) {
    NamedRecording recording = recording_of(options);
    Loaded loaded = or_throw(load(recording, options, durations));
    say_all(loaded.warnings);
    return loaded;
}

Loaded load_with_events(EventSink& to, const ReportOptions& options, std::optional<TimeAxis> axis,
                        bool durations) {
    NamedRecording recording = recording_of(options);
    Loaded loaded = or_throw(load_with_events(recording, to, options, axis, durations));
    say_all(loaded.warnings);
    return loaded;
}

void stream_into(EventSink& to, const ReportOptions& options, std::optional<TimeAxis> axis) {
    if (const std::string shown = shown_text(options); !shown.empty()) to.on_shown_part(shown);
    if (to.wants_sums()) {
        const Loaded loaded = load_with_events(to, options, axis);
        say_unknown_sites(options, loaded.report.integrity.value("unknown_sites"));
        return;
    }
    SelectedCalls selected(to, options.calls);
    EventSink& sink = options.calls.all() ? to : selected;
    NamedRecording recording = recording_of(options);
    TaskLabels labels(or_throw(recording.tasks_for(to)));
    BalancedStream stream(
        sink, [&recording] { return recording.symbols(); }, options.file, axis);
    stream.know_tasks(&labels);
    or_throw(recording.read(stream));
    or_throw(stream.result());
    if (stream.sessions() == 0)
        throw Error(options.file + ": " + no_report_sentence(recording.counters()));
    sink.finish();
    check_found(selected, options.calls);
    say_all(recording.warnings());
    say_unknown_sites(options, stream.unknown_sites());
}

void say_unknown_sites(const ReportOptions& options, std::uint64_t functions) {
    if (functions == 0) return;
    say(fmt::format(
        "{}: {} of its functions have no patch site in the image, so it contains wrong records",
        options.file, functions));
}

void say_all(const std::vector<std::string>& sentences) {
    for (const std::string& sentence : sentences) say(sentence);
}

}  // namespace nopscope::host
