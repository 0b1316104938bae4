// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host-tools/base/text.hpp"
#include "host-tools/views/json/json.hpp"
#include "host-tools/views/page/html.hpp"

namespace nopscope::host {
namespace {

std::uint64_t whole(double value) { return static_cast<std::uint64_t>(std::llround(value)); }

std::string note_of(const Compared& row) {
    const double change = row.change_ns();
    switch (row.verdict) {
    case Verdict::fresh: return "new";
    case Verdict::same: return {};
    default:
        return fmt::format("own time {}{} ({:+.1f} %)", change < 0 ? "-" : "+",
                           human_ns(std::abs(change)),
                           row.before.self_ns > 0 ? 100 * change / row.before.self_ns : 0);
    }
}

Json functions_of(const Names& names, const Difference& difference) {
    std::vector<const Compared*> by_number(names.function_count());
    for (const Compared& row : difference.functions) by_number[row.number] = &row;
    Json list = Json::array();
    for (std::uint32_t number = 0; number < by_number.size(); ++number) {
        const FunctionPlace& place = names.place(number);
        const Compared* const row = by_number[number];
        const Amounts after = row != nullptr ? row->after : Amounts{};
        const std::string note = row != nullptr ? note_of(*row) : std::string();
        list.push_back(
            {{"name", for_cell(names.label(number))},
             {"file", for_cell(place.file)},
             {"line", place.line},
             {"address", fmt::format("{}", number)},  // names are not unique
             {"calls", whole(after.calls)},
             {"total", whole(after.total_ns)},
             {"self", whole(after.self_ns)},
             {"min", nullptr},
             {"mean", after.calls > 0 ? Json(whole(after.total_ns / after.calls)) : Json()},
             {"max", nullptr},
             {"share", difference.after_ns > 0 ? after.self_ns / difference.after_ns : 0},
             {"doubtful", false},
             {"notes", note.empty() ? Json::array() : Json::array({note})},
             {"bins", Json::array()}});
    }
    return list;
}

Json paths_of(const Names& names, const Difference& difference, std::size_t most) {
    std::vector<const Compared*> by_number(names.path_count());
    for (const Compared& row : difference.paths) by_number[row.number] = &row;
    // A caller's weight is at least that of its callees, because it was on the stack.
    std::vector<double> weights(by_number.size());
    for (std::size_t n = by_number.size(); n-- > 1;) {
        if (const Compared* const row = by_number[n])
            weights[n] = std::max({weights[n], row->before.total_ns, row->after.total_ns});
        double& above = weights[names.caller(static_cast<std::uint32_t>(n))];
        above = std::max(above, weights[n]);
    }
    const double beyond = largest_left_out(weights, most);
    Json json = json_columns({"parent", "function", "calls", "total", "self", "samples", "before"});
    std::vector<std::uint32_t> position(by_number.size());
    std::uint32_t count = 0;
    for (std::uint32_t n = 0; n < by_number.size(); ++n) {
        if (n != Names::root && !(weights[n] > beyond)) continue;
        position[n] = count++;
        const Compared* const row = by_number[n];
        const Amounts after = row != nullptr ? row->after : Amounts{};
        const bool is_root = n == Names::root;
        add_row(json, {position[names.caller(n)], is_root ? Json(-1) : Json(names.last(n)),
                       whole(after.calls), whole(is_root ? difference.after_ns : after.total_ns),
                       whole(after.self_ns), 0, row != nullptr ? whole(row->before.self_ns) : 0});
    }
    return json;
}

Json facts_of(const Names& names, const Difference& difference) {
    Json list = Json::array();
    const auto add = [&](const char* name, const std::string& value) {
        list.push_back({{"name", name}, {"value", for_cell(value)}, {"spoils", false}});
    };
    add("own times before", human_ns(difference.before_ns));
    add("own times after", human_ns(difference.after_ns));
    add("test", difference.tested ? fmt::format("Welch's, at a false discovery rate of {:.0f} %",
                                                100 * significant_rate)
                                  : "none: one run on a side");
    for (const Compared& row : difference.functions) {
        if (list.size() > 200) break;
        if (row.verdict == Verdict::gone)
            add("gone",
                fmt::format("{} ({})", names.label(row.number), human_ns(row.before.self_ns)));
    }
    return list;
}

}  // namespace

std::string view_json(const Names& names, const Difference& difference, const std::string& title,
                      const std::string& headline, std::size_t most_paths) {
    return json_line({{"version", 1},
                      {"title", title},
                      {"headline", headline},
                      {"complaint", ""},
                      {"facts", facts_of(names, difference)},
                      {"duration", whole(difference.after_ns)},
                      {"functions", functions_of(names, difference)},
                      {"paths", paths_of(names, difference, most_paths)},
                      {"sampled", false},
                      {"tasks", nullptr},
                      {"timeline", nullptr},
                      {"code", nullptr}});
}

}  // namespace nopscope::host
