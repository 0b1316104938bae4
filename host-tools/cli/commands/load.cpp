// SPDX-License-Identifier: Apache-2.0
#include "host-tools/cli/commands/load.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "host-tools/base/error.hpp"
#include "host-tools/base/or_throw.hpp"
#include "host-tools/base/progress.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/calls/moves_in_order.hpp"
#include "host-tools/calls/task_labels.hpp"
#include "host-tools/figures/report/kept_functions.hpp"
#include "host-tools/image/read_symbols.hpp"
#include "host-tools/line/stream/origins.hpp"

namespace nopscope::host {
namespace {

// "10ms to 20ms, core 1, calls of at least 1ms"; empty: all of it.
std::string shown_text(const ReportOptions& options) {
    const std::string part = part_text(options.part), calls = selection_text(options.calls);
    return part + (part.empty() || calls.empty() ? "" : ", ") + calls;
}

// A pipe gives its bytes once: standard input, and what a shell's <(...) opens.
bool is_read_once(const std::string& path) {
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    return path == "-" || std::filesystem::is_fifo(status) || std::filesystem::is_socket(status) ||
           std::filesystem::is_character_file(status);
}

}  // namespace

void read_with_progress(nsc::Reader& reader, const std::string& path, SessionSink& sink,
                        DamagedChunks* damaged) {
    Progress progress("reading " + for_terminal(path));
    const auto told = [&](std::uint64_t bytes, std::uint64_t total) { progress.at(bytes, total); };
    FirstClocks first;
    if (!is_read_once(path)) {
        nsc::Reader ahead;
        ahead.only_first_records();
        or_throw(ahead.read_file(path, first, told));
    }
    MovesInOrder in_order(sink);
    OriginsAhead origins(in_order, std::move(first));
    if (damaged != nullptr) origins.add(*damaged);
    or_throw(reader.read_file(path, origins, told));
}

NamedFile::NamedFile(const ReportOptions& options) : path_(options.file), part_(options.part) {
    if (!options.image.empty())
        image_ = read_symbols(ElfFile::open(options.image), DebugFile::gives_names);
}

void NamedFile::read(Profile& profile) {
    if (part_.whole()) return read_with_progress(file_, path_, profile, &damaged_);
    const auto named = [this] { return symbols(); };
    if (part_.time.needs_bounds()) {
        if (is_read_once(path_)) {
            throw Error(
                "--time: a marker, or a time before the end, needs a file, not standard input or a "
                "pipe",
                Exit::usage);
        }
        RecordingBounds bounds;
        CallFeed feed(bounds, named, path_, std::nullopt);
        Profile all;
        all.tell(feed);
        all.tell_feed_only();
        nsc::Reader first;
        read_with_progress(first, path_, all);
        part_.time = or_throw(bounds.resolved(part_.time));
    }
    profile.show(or_throw(PartFilter::of(part_, named, names_of_tasks())));
    read_with_progress(file_, path_, profile, &damaged_);
    or_throw(profile.part().check());
}

Tasks NamedFile::names_of_tasks() const {
    const bool is_number = part_.task.find_first_not_of("0123456789*?[]-!") == std::string::npos;
    return part_.task.empty() || (is_number && is_read_once(path_)) ? Tasks() : tasks("--task");
}

const Tasks& NamedFile::tasks(const std::string& option) const {
    if (tasks_) return *tasks_;
    if (is_read_once(path_)) {
        throw Error(option + ": a task's name needs a file, not standard input or a pipe",
                    Exit::usage);
    }
    NamesOfTasks names;
    nsc::Reader first;
    first.leave_out_records();
    or_throw(first.read_file(path_, names));
    if (const auto left_out = names.tasks().left_out(); left_out != 0) {
        say(
            fmt::format("{}: {} facts of tasks and objects have no room, so tasks may lack their "
                        "names; give more --memory",
                        path_, left_out));
    }
    return tasks_.emplace(names.tasks());
}

const Symbols* NamedFile::symbols() const {
    return image_ ? &*image_ : file_.symbols() ? &*file_.symbols() : nullptr;
}

std::string NamedFile::no_report(const std::string& why) const {
    const ByteChange change = counters().stream.sessions == 0
                                  ? damaged_.change(counters().line.frames != 0)
                                  : ByteChange();
    return path_ + ": " + why + (change.what.empty() ? "" : ": " + change.sentence());
}

void NamedFile::say_what_is_amiss() const {
    if (symbols() == nullptr) {
        say(path_ + " carries no symbols: give --image ELF for names");
    }
    if (const auto others = counters().stream.other_image_sessions; others != 0) {
        say(
            fmt::format("the target was reset into another image {} times; only the first image's "
                        "sessions are reported",
                        others));
    }
}

namespace {

// A feed that knows the file's functions, and its tasks if the sink wants them.
struct NamedFeed {
    NamedFeed(EventSink& sink, const NamedFile& file, const ReportOptions& options,
              std::optional<TimeAxis> axis)
        : feed(
              sink, [&file] { return file.symbols(); }, options.file, axis) {
        if (sink.wants_tasks() && !is_read_once(options.file))
            feed.know_tasks(&labels.emplace(file.tasks("")));
    }

    CallFeed feed;
    std::optional<TaskLabels> labels;
};

// `sink`: gets the calls that the options choose. Null: nothing does.
Loaded load(const ReportOptions& options, bool durations, EventSink* sink,
            std::optional<TimeAxis> axis, const std::function<void(const Symbols*)>& named) {
    Loaded loaded;
    NamedFile file(options);
    const auto symbols = [&file] { return file.symbols(); };
    std::optional<NamedFeed> feed;
    if (sink != nullptr) {
        loaded.profile = std::make_unique<Profile>(MemoryBudget(0.6));
        loaded.profile->tell(feed.emplace(*sink, file, options, axis).feed);
    }
    Profile& profile = *loaded.profile;
    if (durations) profile.count_durations();
    if (options.on_cpu) profile.time_on_cpu();
    profile.leave_out_shorter(options.calls.least_time, options.raw);
    if (options.split != SplitBy::nothing) {
        profile.split_by(options.split,
                         options.split == SplitBy::task ? file.tasks("--by task") : Tasks());
    }
    profile.know_code(code_of_calls(symbols));
    file.read(profile);
    profile.know_code({});  // this function used `file`, and the profile lives longer
    auto report = make_report(profile, file.counters(), file.symbols(), options.raw);
    if (!report) throw Error(file.no_report(report.error().what()), report.error().code());
    loaded.report = *std::move(report);
    loaded.report.part = shown_text(options);
    loaded.report.damage = file.damage();
    if (!options.calls.function.empty())
        or_throw(keep_functions(loaded.report, options.calls.function));
    if (sink != nullptr) {
        sink->sums(loaded.report);
        sink->finish();
    }
    file.say_what_is_amiss();
    if (named) named(file.symbols());
    return loaded;
}

}  // namespace

Loaded load(const ReportOptions& options, bool durations,
            const std::function<void(const Symbols*)>& named) {
    return load(options, durations, nullptr, {}, named);
}

Loaded load_with_events(EventSink& to, const ReportOptions& options, std::optional<TimeAxis> axis,
                        bool durations) {
    if (options.calls.all()) return load(options, durations, &to, axis, {});
    SelectedCalls selected(to, options.calls);
    return load(options, durations, &selected, axis, {});
}

void stream_into(EventSink& to, const ReportOptions& options, std::optional<TimeAxis> axis) {
    if (const std::string shown = shown_text(options); !shown.empty()) to.on_shown_part(shown);
    if (to.wants_sums()) {
        const Loaded loaded = load_with_events(to, options, axis);
        return say_unknown_sites(options, loaded.report.integrity.value("unknown_sites"));
    }
    SelectedCalls selected(to, options.calls);
    EventSink& sink = options.calls.all() ? to : selected;
    NamedFile file(options);
    NamedFeed named(sink, file, options, axis);
    Profile profile;
    profile.tell(named.feed);
    profile.tell_feed_only();
    file.read(profile);
    if (profile.sessions_over() == 0)
        throw Error(file.no_report(no_report_sentence(file.counters())));
    sink.finish();
    if (!options.calls.function.empty() && !selected.found_function()) {
        throw Error(fmt::format("--function: no function that was called is named {}",
                                for_cell(options.calls.function)),
                    Exit::usage);
    }
    file.say_what_is_amiss();
    say_unknown_sites(options, named.feed.unknown_sites());
}

void say_unknown_sites(const ReportOptions& options, std::uint64_t functions) {
    if (functions == 0) return;
    say(fmt::format(
        "{}: {} of its functions have no patch site in the image, so it contains wrong records",
        options.file, functions));
}

}  // namespace nopscope::host
