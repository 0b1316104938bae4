// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/diff/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "host-tools/calls/nanoseconds.hpp"
#include "host-tools/image/function_names.hpp"

namespace nopscope::host {
namespace {

struct Spread {
    double mean = 0;
    double of_mean = 0;  // variance of the mean
    double freedom = 0;
};
Spread spread_of(const std::vector<double>& values) {
    const auto count = static_cast<double>(values.size());
    Spread spread{.mean = std::accumulate(values.begin(), values.end(), 0.0) / count,
                  .freedom = count - 1};
    double squares = 0;
    for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
    spread.of_mean = squares / spread.freedom / count;
    return spread;
}

// The probability that Student's t of this freedom is as far from 0.
double student_two_sided(double t, double freedom) {
    // The regularized incomplete beta function at x, whose continued fraction (NIST
    // DLMF 8.17.22) converges quickly on one side of its maximum; on the other the function is 1
    // less that of the complement. 100 terms are enough for 100,000 runs.
    const auto beta = [](double x, double a, double b) {
        double fraction = 1;
        for (double m = 100; m >= 0; --m) {
            const double even = (m + 1) * (b - m - 1) * x / ((a + 2 * m + 1) * (a + 2 * m + 2));
            const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
            fraction = 1 + odd / (1 + even / fraction);
        }
        return std::exp(a * std::log(x) + b * std::log1p(-x) + std::lgamma(a + b) - std::lgamma(a) -
                        std::lgamma(b)) /
               (a * fraction);
    };
    const double a = freedom / 2;
    const double x = freedom / (freedom + t * t);
    if (x == 0 || x == 1) return x;
    return x < (a + 1) / (a + 2.5) ? beta(x, a, 0.5) : 1 - beta(t * t / (freedom + t * t), 0.5, a);
}

using Side = std::vector<const Amounts*>;  // by run; null: not in that run

std::vector<double> self_of(const Side& side) {
    std::vector<double> values;
    for (const Amounts* const one : side) values.push_back(one != nullptr ? one->self_ns : 0);
    return values;
}
Amounts mean_of(const Side& side) {
    Amounts sum;
    for (const Amounts* const one : side)
        if (one != nullptr) sum.add(*one);
    const auto runs = static_cast<double>(side.size());
    return {sum.calls / runs, sum.self_ns / runs, sum.total_ns / runs, sum.share / runs};
}
bool is_there(const Side& side) {
    return std::any_of(side.begin(), side.end(), [](const Amounts* one) { return one != nullptr; });
}

// Sets each q (Benjamini, Hochberg), from the largest p down: no q is above that of a larger p.
void control_rate(std::vector<Compared*>& tested) {
    std::sort(tested.begin(), tested.end(),
              [](const Compared* a, const Compared* b) { return a->p > b->p; });
    const auto all = static_cast<double>(tested.size());
    double least = 1;
    for (std::size_t n = 0; n < tested.size(); ++n) {
        least = std::min(least, tested[n]->p * all / static_cast<double>(tested.size() - n));
        tested[n]->q = least;
    }
}

std::vector<Compared> compare(const std::vector<RunSums>& before, const std::vector<RunSums>& after,
                              std::map<std::uint32_t, Amounts> RunSums::*of, bool with_test) {
    std::map<std::uint32_t, std::pair<Side, Side>> sides;
    const auto take = [&](const std::vector<RunSums>& runs, Side std::pair<Side, Side>::*side) {
        for (std::size_t n = 0; n < runs.size(); ++n) {
            for (const auto& [number, amounts] : runs[n].*of) {
                auto& both = sides[number];
                both.first.resize(before.size());
                both.second.resize(after.size());
                (both.*side)[n] = &amounts;
            }
        }
    };
    take(before, &std::pair<Side, Side>::first);
    take(after, &std::pair<Side, Side>::second);
    std::vector<Compared> rows;
    for (const auto& [number, both] : sides) {
        Compared row{
            .number = number, .before = mean_of(both.first), .after = mean_of(both.second)};
        if (!is_there(both.first)) {
            row.verdict = Verdict::fresh;
        } else if (!is_there(both.second)) {
            row.verdict = Verdict::gone;
        } else {
            row.p = welch(self_of(both.first), self_of(both.second));
            row.verdict = Verdict::same;
        }
        rows.push_back(row);
    }
    std::vector<Compared*> tested;
    for (Compared& row : rows) {
        if (row.verdict == Verdict::same) tested.push_back(&row);
    }
    if (with_test) control_rate(tested);
    for (Compared* const row : tested) {
        if (row->change_ns() == 0 || (with_test && row->q > significant_rate)) continue;
        row->verdict = row->change_ns() > 0 ? Verdict::slower : Verdict::faster;
    }
    std::stable_sort(rows.begin(), rows.end(), [](const Compared& a, const Compared& b) {
        return std::abs(a.change_ns()) > std::abs(b.change_ns());
    });
    return rows;
}

void divide(Amounts& of, Per per, double span_ns) {
    const double times = per == Per::second ? 1e9 : 1;
    const double by = per == Per::call ? of.calls : per == Per::second ? span_ns : 1;
    if (by == 0) return;
    of.self_ns = of.self_ns * times / by;
    of.total_ns = of.total_ns * times / by;
    if (per == Per::second) of.calls = of.calls * times / by;
}

void divide(RunSums& run, Per per) {
    Amounts all{.self_ns = run.self_ns};
    for (const auto& [number, of] : run.functions) all.calls += of.calls;
    for (auto* const amounts : {&run.functions, &run.paths}) {
        // A call that began before the part has a time, but does not count.
        if (per == Per::call)
            std::erase_if(*amounts, [](const auto& one) { return one.second.calls == 0; });
        for (auto& [number, of] : *amounts) {
            of.share = run.self_ns > 0 ? of.self_ns / run.self_ns : 0;
            divide(of, per, run.span_ns);
        }
    }
    divide(all, per, run.span_ns);
    run.self_ns = all.self_ns;
}

// In lossless mode the program of one core stands still while the core waits for the line.
double span_of(const Report& report) {
    const bool stands_still = report.lossless && report.cores == 1;
    return static_cast<double>(report.duration_ns - (stands_still ? report.tracer_ns : 0));
}

Amounts amounts(std::uint64_t calls, std::uint64_t self_ns, std::uint64_t total_ns) {
    return {static_cast<double>(calls), static_cast<double>(self_ns),
            static_cast<double>(total_ns)};
}

}  // namespace

std::uint32_t Names::function(FunctionPlace place) {
    const auto number = static_cast<std::uint32_t>(places_.size());
    Builds::Id id = builds_.id_of(place.name, place.file);
    const auto [at, is_new] = numbers_.try_emplace(id, number);
    if (place.name != id.first) place.aliases.push_back(place.name);
    std::tie(place.name, place.file) = std::move(id);
    if (is_new) {
        places_.push_back(std::move(place));
    } else {
        std::vector<std::string>& known = places_[at->second].aliases;
        for (std::string& alias : place.aliases)
            if (std::find(known.begin(), known.end(), alias) == known.end())
                known.push_back(std::move(alias));
    }
    return at->second;
}

std::string Names::label(std::uint32_t function) const {
    const FunctionPlace& place = places_[function];
    std::vector<std::string> others;
    for (auto at = numbers_.lower_bound({place.name, {}});
         at != numbers_.end() && at->first.first == place.name; ++at) {
        if (at->second != function) others.push_back(at->first.second);
    }
    const std::string end = others.empty() ? std::string() : telling_end(place.file, others);
    return end.empty() ? place.name : fmt::format("{} ({})", place.name, end);
}

std::uint32_t Names::path(std::uint32_t caller, std::uint32_t function) {
    const auto number = static_cast<std::uint32_t>(paths_.size());
    const auto [at, is_new] = path_numbers_.try_emplace({caller, function}, number);
    if (is_new) paths_.emplace_back(caller, function);
    return at->second;
}

std::vector<std::uint32_t> Names::functions_of(std::uint32_t path) const {
    std::vector<std::uint32_t> functions;
    for (; path != root; path = paths_[path].first) functions.push_back(paths_[path].second);
    std::reverse(functions.begin(), functions.end());
    return functions;
}

double welch(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() < 2 || b.size() < 2) return 1;
    const Spread first = spread_of(a);
    const Spread second = spread_of(b);
    const double sum = first.of_mean + second.of_mean;
    if (sum == 0) return first.mean == second.mean ? 1 : 0;
    const double t = std::abs(first.mean - second.mean) / std::sqrt(sum);
    const double freedom = sum * sum /
                           (first.of_mean * first.of_mean / first.freedom +
                            second.of_mean * second.of_mean / second.freedom);
    return student_two_sided(t, freedom);
}

RunSums sums_of(Names& names, const Report& report, const Profile& profile) {
    RunSums run;
    run.span_ns = span_of(report);
    const PathTree tree = path_tree({report, profile, report.raw});
    std::vector<std::uint32_t> functions;
    functions.reserve(tree.functions.size());
    for (const FunctionPlace& place : tree.functions) functions.push_back(names.function(place));
    std::vector<std::uint32_t> paths(tree.nodes.size(), Names::root);
    for (std::size_t at = 1; at < tree.nodes.size(); ++at) {
        const TreeNode& node = tree.nodes[at];
        paths[at] = names.path(paths[node.parent], functions[node.function]);
        if (node.calls == 0 && node.self_ns == 0) continue;
        run.paths[paths[at]].add(amounts(node.calls, node.self_ns, node.total_ns));
        run.self_ns += static_cast<double>(node.self_ns);
    }
    const auto take = [&](const auto& row) {
        const RowTimes& times = row.shown(report.raw);
        run.functions[names.function(row)].add(amounts(row.calls, times.self_ns, times.total_ns));
    };
    for (const FunctionRow& row : report.functions) take(row);
    if (report.has_calls()) return run;
    for (const ProfileRow& row : report.profile) take(row);
    return run;
}

RunSums sums_of_tasks(Names& names, const Report& report) {
    RunSums run;
    run.span_ns = span_of(report);
    for (const ContextTimes& times : report.contexts) {
        const std::uint64_t ns =
            ticks_to_ns(not_negative(times.ran_ticks - times.tracer_ticks), report.clock_hz);
        const FunctionPlace task{.name = fmt::format("task {}", times.context), .file = {}};
        run.functions[names.function(task)].add(amounts(0, ns, ns));
        run.self_ns += static_cast<double>(ns);
    }
    return run;
}

void keep_functions(RunSums& run, const Names& names, const std::string& glob) {
    const auto is_named = [&](std::uint32_t function) {
        return names_function(glob, names.place(function));
    };
    std::erase_if(run.functions, [&](const auto& one) { return !is_named(one.first); });
    std::erase_if(run.paths, [&](const auto& one) { return !is_named(names.last(one.first)); });
    run.self_ns = 0;
    for (const auto& [number, of] : run.functions) run.self_ns += of.self_ns;
}

Difference compare(std::vector<RunSums> before, std::vector<RunSums> after, Per per) {
    for (auto* const side : {&before, &after}) {
        for (RunSums& run : *side) divide(run, per);
    }
    Difference result;
    result.tested = before.size() > 1 && after.size() > 1;
    const auto all = [](const std::vector<RunSums>& runs, double RunSums::*of) {
        std::vector<double> values;
        for (const RunSums& run : runs) values.push_back(run.*of);
        return values;
    };
    const std::vector<double> whole[] = {all(before, &RunSums::self_ns),
                                         all(after, &RunSums::self_ns)};
    const auto mean = [](const std::vector<double>& values) {
        return std::accumulate(values.begin(), values.end(), 0.0) /
               static_cast<double>(values.size());
    };
    result.before_ns = mean(whole[0]);
    result.after_ns = mean(whole[1]);
    result.before_span_ns = mean(all(before, &RunSums::span_ns));
    result.after_span_ns = mean(all(after, &RunSums::span_ns));
    result.p = welch(whole[0], whole[1]);
    result.functions = compare(before, after, &RunSums::functions, result.tested);
    result.paths = compare(before, after, &RunSums::paths, result.tested);
    return result;
}

}  // namespace nopscope::host
