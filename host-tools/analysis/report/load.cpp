// SPDX-License-Identifier: Apache-2.0
#include "host-tools/analysis/report/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host-tools/analysis/events/task_labels.hpp"
#include "host-tools/analysis/part/part_stream.hpp"
#include "host-tools/analysis/report/kept_functions.hpp"
#include "host-tools/target/stream/moves_in_order.hpp"
#include "host-tools/target/stream/tee.hpp"

namespace nopscope::host {
namespace {

// `also` gives a second sink for the same contents, which may ask for symbols until this returns.
Result<Loaded> load(NamedRecording& recording, const LoadOptions& options, bool durations,
                    const std::function<Result<SessionSink*>(const Profile&)>& also,
                    const Checkpoints* from = nullptr) {
    Loaded loaded;
    if (also) loaded.profile = std::make_unique<Profile>(MemoryBudget(0.6));
    Profile& profile = *loaded.profile;
    if (durations) profile.count_durations();
    if (options.on_cpu) profile.time_on_cpu();
    profile.leave_out_shorter(options.calls.least_time, options.raw);
    if (options.split == SplitBy::task) {
        const auto tasks = recording.tasks("--by task");
        if (!tasks) return std::unexpected(tasks.error());
        profile.split_by(options.split, **tasks);
    } else if (options.split != SplitBy::nothing) {
        profile.split_by(options.split, Tasks());
    }
    profile.know_code(code_of_calls([&recording] { return recording.symbols(); }));
    Tee sinks(profile);
    if (also) {
        const auto second = also(profile);
        if (!second) return std::unexpected(second.error());
        sinks.add(**second);
    }
    if (from != nullptr) recording.use(*from, profile);
    if (const auto read = recording.read(sinks); !read) return std::unexpected(read.error());
    profile.know_code({});  // it used `recording`, and the profile may live longer
    Result<Report> report =
        make_report(profile, recording.counters(), recording.symbols(), options.raw);
    if (!report) return failure(options.file + ": " + report.error().what(), report.error().code());
    loaded.report = std::move(*report);
    loaded.report.part = shown_text(options);
    if (!options.calls.function.empty()) {
        const auto kept = keep_functions(loaded.report, options.calls.function);
        if (!kept) return std::unexpected(kept.error());
    }
    loaded.warnings = recording.warnings();
    return loaded;
}

Result<Tasks> copy_of(const Result<const Tasks*>& tasks) {
    if (!tasks) return std::unexpected(tasks.error());
    return **tasks;
}

}  // namespace

RecordingInput input_of(std::span<const std::uint8_t> bytes,
                        std::function<void(std::size_t)> progress) {
    return {.read = [bytes, progress](nsc::Reader& reader, SessionSink& sink) {
        std::span<const std::uint8_t> left = bytes;
        return reader.read(
            [&](std::span<std::uint8_t> to) {
                const std::size_t count = std::min(to.size(), left.size());
                std::copy_n(left.begin(), count, to.begin());
                left = left.subspan(count);
                if (progress) progress(bytes.size() - left.size());
                return count;
            },
            sink);
    }};
}

NamedRecording::NamedRecording(RecordingInput input, const LoadOptions& options,
                               std::optional<Symbols> image)
    : input_(std::move(input)),
      name_(options.file),
      part_(options.part),
      image_(std::move(image)) {}

Result<void> NamedRecording::pass(nsc::Reader& reader, SessionSink& sink) const {
    MovesInOrder in_order(sink);
    return input_.read(reader, in_order);
}

Result<void> NamedRecording::read(SessionSink& sink) {
    if (part_.whole() && made_.to != nullptr) {
        MovesInOrder in_order(sink);
        CheckpointWriter writer(in_order, *made_.to, *made_.profile, *made_.stream);
        reader_.tell(writer);
        return input_.read(reader_, writer);
    }
    if (part_.whole()) return pass(reader_, sink);
    if (const auto resolved = resolve_bounds(); !resolved) return resolved;
    const auto tasks = names_of_tasks();
    if (!tasks) return std::unexpected(tasks.error());
    PartStream part(
        sink, part_, [this] { return symbols(); }, name_, *tasks);
    if (used_.from == nullptr || part_.time.whole()) {
        if (const auto passed = pass(reader_, part); !passed) return passed;
        return part.check();
    }
    MovesInOrder in_order(part);
    CheckpointReader from(in_order, *used_.from, part_, part, *used_.profile);
    reader_.tell(from);
    if (const auto passed = input_.read(reader_, from); !passed) return passed;
    records_read_ = from.records_read();
    return part.check();
}

Result<void> NamedRecording::resolve_bounds() {
    if (part_.time.needs_bounds()) {
        if (input_.is_read_once) {
            return failure(
                "--time: a marker, or a time before the end, needs a file, not standard input or a "
                "pipe",
                Exit::usage);
        }
        RecordingBounds bounds;
        BalancedStream all(
            bounds, [this] { return symbols(); }, name_, std::nullopt);
        nsc::Reader first;
        if (const auto passed = pass(first, all); !passed) return passed;
        if (const auto followed = all.result(); !followed) return followed;
        const auto time = bounds.resolved(part_.time);
        if (!time) return std::unexpected(time.error());
        part_.time = *time;
    }
    return check_order(part_.time);
}

Result<Tasks> NamedRecording::names_of_tasks() {
    const bool is_number = part_.task.find_first_not_of("0123456789*?[]-!") == std::string::npos;
    if (part_.task.empty() || (is_number && input_.is_read_once)) return Tasks();
    return copy_of(tasks("--task"));
}

Result<const Tasks*> NamedRecording::tasks(const std::string& option) {
    if (tasks_) return &*tasks_;
    if (input_.is_read_once) {
        return failure(option + ": a task's name needs a file, not standard input or a pipe",
                       Exit::usage);
    }
    NamesOfTasks names;
    nsc::Reader first;
    first.leave_out_records();
    if (const auto passed = pass(first, names); !passed) return std::unexpected(passed.error());
    return &tasks_.emplace(names.tasks());
}

Result<Tasks> NamedRecording::tasks_for(const EventSink& sink) {
    if (!sink.wants_tasks() || input_.is_read_once) return Tasks();
    return copy_of(tasks(""));
}

const Symbols* NamedRecording::symbols() const {
    return image_ ? &*image_ : reader_.symbols() ? &*reader_.symbols() : nullptr;
}

std::vector<std::string> NamedRecording::warnings() const {
    std::vector<std::string> sentences;
    if (tasks_ && tasks_->left_out() != 0) {
        sentences.push_back(
            fmt::format("{}: {} facts of tasks and objects have no room, so tasks may lack their "
                        "names; give more --memory",
                        name_, tasks_->left_out()));
    }
    if (symbols() == nullptr)
        sentences.push_back(name_ + " carries no symbols: give --image ELF for names");
    if (const auto others = counters().stream.other_image_sessions; others != 0) {
        sentences.push_back(
            fmt::format("the target was reset into another image {} times; only the first image's "
                        "sessions are reported",
                        others));
    }
    return sentences;
}

Result<Loaded> load(NamedRecording& recording, const LoadOptions& options, bool durations,
                    const Checkpoints* from) {
    return load(recording, options, durations, {}, from);
}

Result<Loaded> load_with_events(NamedRecording& recording, EventSink& events,
                                const LoadOptions& options, std::optional<TimeAxis> axis,
                                bool durations, Checkpoints* to) {
    SelectedCalls selected(events, options.calls);
    EventSink& sink = options.calls.all() ? events : selected;
    std::optional<TaskLabels> labels;
    BalancedStream stream(
        sink, [&recording] { return recording.symbols(); }, options.file, axis);
    const auto also = [&](const Profile& profile) -> Result<SessionSink*> {
        Result<Tasks> tasks = recording.tasks_for(events);
        if (!tasks) return std::unexpected(tasks.error());
        stream.know_tasks(&labels.emplace(std::move(*tasks)));
        if (to != nullptr) recording.make(*to, profile, stream);
        return &stream;
    };
    Result<Loaded> loaded = load(recording, options, durations, also);
    if (!loaded) return loaded;
    if (const auto followed = stream.result(); !followed) return std::unexpected(followed.error());
    sink.sums(loaded->report);
    sink.finish();
    return loaded;
}

std::string shown_text(const LoadOptions& options) {
    const std::string part = part_text(options.part), calls = selection_text(options.calls);
    return part + (part.empty() || calls.empty() ? "" : ", ") + calls;
}

}  // namespace nopscope::host
