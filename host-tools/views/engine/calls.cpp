// SPDX-License-Identifier: Apache-2.0
// The questions about single calls.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host-tools/views/engine/engine.hpp"
#include "host-tools/views/engine/question.hpp"

namespace nopscope::host {
namespace {

constexpr std::int64_t farthest = std::int64_t{1} << 61;  // ns
constexpr std::int64_t most_listed = 4096;

struct Range {
    std::int64_t from;
    std::int64_t to;
};

// "from" and "to" of a question, on the axis of the timeline's calls.
Result<Range> range_of(const Json& question, std::int64_t begin) {
    const auto from = whole(question, "from", -farthest, farthest, -farthest);
    const auto to = whole(question, "to", -farthest, farthest, farthest);
    for (const auto* const value : {&from, &to}) {
        if (!*value) return std::unexpected(value->error());
    }
    if (*from > *to) return failure("\"to\" is before \"from\"");
    return Range{begin + *from, begin + *to};
}

// Nothing: the question has no such list.
Result<std::optional<std::set<std::int64_t>>> numbers(const Json& question, const char* name) {
    const auto found = question.find(name);
    if (found == question.end()) return std::nullopt;
    const bool is_list =
        found->is_array() && std::all_of(found->begin(), found->end(),
                                         [](const Json& one) { return one.is_number_integer(); });
    if (!is_list) return failure(fmt::format("\"{}\" is no list of whole numbers", name));
    std::set<std::int64_t> list;
    for (const Json& one : *found) list.insert(one.get<std::int64_t>());
    return list;
}

Json duration_of(const TimelineCall& call) {
    return call.is_point ? Json(nullptr) : Json(call.duration);
}

}  // namespace

const CallList& Engine::calls_of(Numbers functions, Numbers tracks) {
    if (!functions && !tracks) {
        if (!all_calls_) all_calls_ = timeline_.calls();
        return *all_calls_;
    }
    if (!some_calls_ || functions != functions_ || tracks != call_tracks_) {
        some_calls_ = timeline_.calls(
            functions ? std::optional(timeline_.functions_of(*functions, position()))
                      : std::nullopt,
            tracks);
        functions_ = std::move(functions);
        call_tracks_ = std::move(tracks);
    }
    return *some_calls_;
}

std::string Engine::calls(const Json& question) {
    const std::int64_t begin = timeline_.begin();
    const auto range = range_of(question, begin);
    if (!range) return json_error(range.error().what());
    const auto first = whole(question, "first", 0, farthest, 0);
    const auto count = whole(question, "count", 0, most_listed, 100);
    for (const auto* const value : {&first, &count}) {
        if (!*value) return json_error(value->error().what());
    }
    const auto functions = numbers(question, "functions");
    const auto tracks = numbers(question, "tracks");
    for (const auto* const value : {&functions, &tracks}) {
        if (!*value) return json_error(value->error().what());
    }
    const CallList& list = calls_of(*functions, *tracks);
    const std::uint64_t before = list.before(range->from);
    const std::uint64_t all = list.before(range->to) - before;
    const auto skipped = std::min(all, static_cast<std::uint64_t>(*first));
    Json json{{"calls", all},
              {"first", skipped},
              {"begin", list.begin() ? Json(*list.begin() - begin) : Json(nullptr)},
              {"summed", timeline_.summed()},
              {"deeper", timeline_.deeper()}};
    json.update(json_columns({"from", "duration", "track", "depth", "function", "left"}));
    const PositionOf at = position();
    std::int64_t last = begin;
    const auto wanted =
        static_cast<std::size_t>(std::min(all - skipped, static_cast<std::uint64_t>(*count)));
    for (const PlacedCall& one : list.read(before + skipped, wanted)) {
        if (one.call.how != Left::returned)
            json["left"].push_back({json["from"].size(), left_text(one.call.how)});
        json["from"].push_back(one.call.from - std::exchange(last, one.call.from));
        json["duration"].push_back(duration_of(one.call));
        json["track"].push_back(one.track);
        json["depth"].push_back(one.depth);
        json["function"].push_back(timeline_.number_of(one.call.function, at));
    }
    return json.dump();
}

std::string Engine::call(const Json& question) {
    const std::int64_t begin = timeline_.begin();
    const auto range = range_of(question, begin);
    if (!range) return json_error(range.error().what());
    const auto which = text(question, "which");
    if (!which) return json_error(which.error().what());
    const auto function = whole(question, "function", 0, UINT32_MAX, -1);
    const auto track = whole(question, "track", 0, UINT32_MAX, 0);
    const auto depth = whole(question, "depth", 0, UINT32_MAX, 0);
    const auto at = whole(question, "begin", -farthest, farthest, -farthest);
    const auto duration = whole(question, "duration", 0, INT64_MAX, -1);
    for (const auto* const value : {&function, &track, &depth, &at, &duration}) {
        if (!*value) return json_error(value->error().what());
    }
    if (*function < 0) return json_error("the question has no \"function\"");
    const auto tracks = numbers(question, "tracks");
    if (!tracks) return json_error(tracks.error().what());
    const CallList& list = calls_of(std::set{*function}, *tracks);
    const std::uint64_t first = list.before(range->from);
    const std::uint64_t end = list.before(range->to);
    PlacedCall from{.track = static_cast<std::uint32_t>(*track),
                    .depth = static_cast<std::uint32_t>(*depth),
                    .call = {.from = begin + *at, .duration = *duration}};
    std::optional<PlacedCall> found;
    if (*which == "longest" || *which == "shortest") {
        found = *which == "longest" ? list.longest(range->from, range->to)
                                    : list.shortest(range->from, range->to);
    } else if (*which == "next" || *which == "previous") {
        // The call's number; `end`: there is none.
        const std::uint64_t number = *which == "next" ? std::max(first, list.behind(from))
                                                      : std::min(end, list.before(from)) - 1;
        if (number >= first && number < end) found = list.read(number, 1).front();
    } else {
        return json_error("\"which\" is none of next, previous, longest, shortest");
    }
    Json json{{"call", nullptr}, {"calls", end - first}};
    if (!found) return json.dump();
    const bool is_listed = found->call.from >= list.begin().value_or(found->call.from);
    json["call"] = {{"number", is_listed ? Json(list.before(*found) - first) : Json(nullptr)},
                    {"from", found->call.from - begin},
                    {"duration", duration_of(found->call)},
                    {"track", found->track},
                    {"depth", found->depth},
                    {"left", left_text(found->call.how)}};
    return json.dump();
}

}  // namespace nopscope::host
