// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/engine/engine.hpp"

#include <fmt/format.h>

#include <utility>

#include "host-tools/analysis/report/json.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/views/engine/question.hpp"

namespace nopscope::host {
namespace {

constexpr std::int64_t most_slots = 8192;

Result<Part> part_of(const Json& question) {
    Part part;
    const auto time = text(question, "time");
    if (!time) return std::unexpected(time.error());
    if (!time->empty()) {
        const auto range = read_time_range(*time);
        if (!range) return std::unexpected(range.error());
        part.time = *range;
    }
    const auto core = whole(question, "core", 0, 255, -1);
    if (!core) return std::unexpected(core.error());
    if (*core >= 0) part.core = static_cast<unsigned>(*core);
    const auto task = text(question, "task");
    if (!task) return std::unexpected(task.error());
    part.task = *task;
    const auto under = text(question, "under");
    if (!under) return std::unexpected(under.error());
    part.under = *under;
    return part;
}

}  // namespace

std::string json_error(std::string_view sentence) {
    return "{\"error\":" + json_string(for_terminal(sentence)) + "}";
}

Result<void> Engine::open(RecordingInput input, const LoadOptions& options,
                          const std::string& title, std::optional<Symbols> image) {
    title_ = title.empty() ? options.file.substr(options.file.rfind('/') + 1) : title;
    input_ = std::move(input);
    options_ = options;
    image_ = std::move(image);
    NamedRecording recording(input_, options_, image_);
    Result<Loaded> loaded = load_with_events(recording, timeline_, options_, axis_, true,
                                             checkpoints_ ? &*checkpoints_ : nullptr);
    if (!loaded) return opened_ = std::unexpected(loaded.error());
    loaded_ = std::move(*loaded);
    return opened_ = {};
}

std::string Engine::view(const CodePart& code) const {
    return view_json(loaded_.report, *loaded_.profile, title_, default_most_paths,
                     {.timeline = &timeline_, .code = code});
}

std::string Engine::view_of(const Part& part) {
    LoadOptions options = options_;
    options.part = part;
    NamedRecording recording(input_, options, image_);
    const Result<Loaded> loaded =
        load(recording, options, true, checkpoints_ ? &*checkpoints_ : nullptr);
    records_read_ = recording.records_read();
    if (!loaded) return json_error(loaded.error().what());
    return view_json(loaded->report, *loaded->profile, title_);
}

const Positions& Engine::functions() {
    if (!positions_) positions_ = positions_in_view(loaded_.report, *loaded_.profile);
    return *positions_;
}

std::string Engine::timeline(const Json& question) {
    constexpr std::int64_t latest = std::int64_t{1} << 62;
    const auto from = whole(question, "from", 0, latest, 0);
    const auto to = whole(question, "to", 1, latest, latest);
    const auto slots = whole(question, "slots", 1, most_slots, 2048);
    for (const auto* const value : {&from, &to, &slots}) {
        if (!*value) return json_error(value->error().what());
    }
    if (*from >= *to) return json_error("\"to\" is not after \"from\"");
    const Timeline::Picture picture{
        .from = *from, .to = *to, .slots = static_cast<std::size_t>(*slots), .most_cells = 40'000};
    return timeline_.json(position(), picture).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Engine::ask(std::string_view question) {
    if (!opened_) return json_error(opened_.error().what());
    const Json json = Json::parse(question, nullptr, false);
    if (!json.is_object()) return json_error("the question is not a JSON object");
    const auto what = json.find("ask");
    if (what == json.end() || !what->is_string())
        return json_error("the question has no text \"ask\"");
    if (*what == "view") {
        const auto part = part_of(json);
        if (!part) return json_error(part.error().what());
        return part->whole() ? view({}) : view_of(*part);
    }
    if (*what == "timeline") return timeline(json);
    if (*what == "cost") return fmt::format("{{\"records\":{}}}", records_read_);
    if (*what == "calls") return calls(json);
    if (*what == "call") return call(json);
    return json_error("no question is named " + what->get<std::string>());
}

}  // namespace nopscope::host
