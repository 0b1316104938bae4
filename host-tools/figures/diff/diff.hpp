// SPDX-License-Identifier: Apache-2.0
// Compares recordings before a change with those after it, by function and by call path.
//
// Functions match by name and by what tells their file (builds.hpp), clones by their origin
// (clones.hpp), paths by their functions. Times are means over the runs of each side. With two runs
// or more on each side, a difference is significant if Welch's test says so at a false discovery
// rate of 5 % over all comparisons (Benjamini, Hochberg 1995). With fewer runs there is no test.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host-tools/figures/diff/builds.hpp"
#include "host-tools/figures/report/report.hpp"
#include "host-tools/figures/report/tree.hpp"

namespace nopscope::host {

// Numbers for the functions and paths of all compared recordings, the same in each.
class Names {
public:
    static constexpr std::uint32_t root = 0;  // of paths

    // The next places are functions of this build.
    void add_build(const Symbols& symbols) { builds_.add(symbols); }
    std::uint32_t function(FunctionPlace place);
    std::uint32_t path(std::uint32_t caller, std::uint32_t function);

    // The place in the first recording that has the function.
    const FunctionPlace& place(std::uint32_t function) const { return places_[function]; }
    // The name; if several functions have it, with the part of the path that tells this one from
    // them: "init (x/init.c)".
    std::string label(std::uint32_t function) const;
    std::size_t path_count() const { return paths_.size(); }  // callers have lower numbers
    std::uint32_t caller(std::uint32_t path) const { return paths_[path].first; }
    std::uint32_t last(std::uint32_t path) const { return paths_[path].second; }
    std::size_t function_count() const { return places_.size(); }
    std::vector<std::uint32_t> functions_of(std::uint32_t path) const;  // the outermost first

    // The names of the functions that this one is the sum of (clones.hpp); empty: it is not a sum.
    void add_clone(std::uint32_t function, const std::string& name) {
        clones_[function].push_back(name);
    }
    bool is_sum(std::uint32_t function) const { return clones_.contains(function); }
    std::vector<std::string> clones(std::uint32_t function) const {
        const auto found = clones_.find(function);
        return found != clones_.end() ? found->second : std::vector<std::string>();
    }

private:
    Builds builds_;
    std::map<Builds::Id, std::uint32_t> numbers_;
    std::vector<FunctionPlace> places_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> path_numbers_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> paths_{{root, 0}};  // caller, function
    std::map<std::uint32_t, std::vector<std::string>> clones_;
};

struct Amounts {
    double calls = 0;
    double self_ns = 0;
    double total_ns = 0;
    double share = 0;  // of all functions' self time in the run, before compare() divides; 0..1

    void add(const Amounts& more) {
        calls += more.calls;
        self_ns += more.self_ns;
        total_ns += more.total_ns;
        share += more.share;
    }
};

// One recording. Times are corrected unless its report is raw.
struct RunSums {
    std::map<std::uint32_t, Amounts> functions;  // by number in Names
    std::map<std::uint32_t, Amounts> paths;
    double self_ns = 0;  // of all functions
    double span_ns = 0;  // from the first event to the last, as on the axis of times
};
RunSums sums_of(Names& names, const Report& report, const Profile& profile);
// The same by task, as if tasks were functions without calls: `self_ns` is how long a task ran, as
// recorded, without the tracer's time.
RunSums sums_of_tasks(Names& names, const Report& report);
// Leaves out functions that do not match the name or glob, and paths that do not end in one.
void keep_functions(RunSums& run, const Names& names, const std::string& glob);

// What times and calls are divided by before they are compared.
enum class Per : std::uint8_t { total, call, second };

enum class Verdict : std::uint8_t { slower, faster, fresh, gone, same };

struct Compared {
    std::uint32_t number = 0;  // of a function or a path
    Amounts before;            // means
    Amounts after;
    Verdict verdict{};  // by self time
    double p = 1;       // welch() of the self times; 1 for a new or gone one
    double q = 1;       // the least false discovery rate at which the change is significant

    double change_ns() const { return after.self_ns - before.self_ns; }
};

struct Difference {
    bool tested = false;
    double before_ns = 0;  // all functions' self, means
    double after_ns = 0;
    double before_span_ns = 0;  // recorded, means
    double after_span_ns = 0;
    double p = 1;                     // welch() of all functions' self times
    std::vector<Compared> functions;  // the largest change, up or down, first
    std::vector<Compared> paths;
};
inline constexpr double significant_rate = 0.05;
// Texts warn if spans differ by more than this factor, because times are sums over the spans.
inline constexpr double similar_spans = 1.25;

// At least one run on each side. `per`: the amounts in the result are means of amounts divided by
// nothing, by the row's calls (calls stay), or by the seconds of the run's span.
Difference compare(std::vector<RunSums> before, std::vector<RunSums> after, Per per = Per::total);

// Welch's t-test, two-sided: the probability that one distribution gives means so far apart. 1 if a
// side has fewer than two values; 0 or 1 if neither side varies.
double welch(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace nopscope::host
