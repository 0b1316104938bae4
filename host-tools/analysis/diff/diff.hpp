// SPDX-License-Identifier: Apache-2.0
// Recordings before a change, and after it: what became slower, faster, new, gone, by function and by call path.
//
// Functions are the same by name and file, clones by their origin (clones.hpp), paths by their functions' names. Times are means over the runs of each side.
// With two runs of each or more, a difference is significant where Welch's test says so at a false discovery rate of
// 5 % over all that were compared (Benjamini, Hochberg 1995); with fewer there is nothing to test with.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host-tools/analysis/report/tree.hpp"
#include "host-tools/analysis/report/report.hpp"

namespace nopscope::host {

// The functions and paths of all recordings that are compared, by numbers that mean the same in each.
class Names {
public:
    static constexpr std::uint32_t root = 0;  // of paths

    std::uint32_t function(const FunctionPlace& place);
    std::uint32_t path(std::uint32_t caller, std::uint32_t function);

    const FunctionPlace& place(std::uint32_t function) const { return places_[function]; }  // of the first met
    std::size_t path_count() const { return paths_.size(); }  // callers have lower numbers
    std::uint32_t caller(std::uint32_t path) const { return paths_[path].first; }
    std::uint32_t last(std::uint32_t path) const { return paths_[path].second; }
    std::size_t function_count() const { return places_.size(); }
    std::vector<std::uint32_t> functions_of(std::uint32_t path) const;  // the outermost first

    // The names of the functions that a function is the sum of (clones.hpp); empty: it is no sum.
    void add_clone(std::uint32_t function, const std::string& name) { clones_[function].push_back(name); }
    bool is_sum(std::uint32_t function) const { return clones_.contains(function); }
    std::vector<std::string> clones(std::uint32_t function) const {
        const auto found = clones_.find(function);
        return found != clones_.end() ? found->second : std::vector<std::string>();
    }

private:
    std::map<std::pair<std::string, std::string>, std::uint32_t> numbers_;  // by name and file
    std::vector<FunctionPlace> places_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> path_numbers_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> paths_{{root, 0}};  // caller's, function
    std::map<std::uint32_t, std::vector<std::string>> clones_;
};

struct Amounts {
    double calls = 0;
    double self_ns = 0;
    double total_ns = 0;
};

// One recording. Corrected times, unless its report is raw.
struct RunSums {
    std::map<std::uint32_t, Amounts> functions;  // by their numbers
    std::map<std::uint32_t, Amounts> paths;
    double self_ns = 0;  // of all functions
    double span_ns = 0;  // from the first event to the last
};
RunSums sums_of(Names& names, const Report& report, const Profile& profile);

enum class Verdict : std::uint8_t { slower, faster, fresh, gone, same };

struct Compared {
    std::uint32_t number = 0;  // of a function, or a path
    Amounts before;  // means
    Amounts after;
    Verdict verdict{};  // by self time
    double p = 1;       // of the two sides' self times being the same; 1 also where there is no test
    double q = 1;       // the least false discovery rate at which it is significant

    double change_ns() const { return after.self_ns - before.self_ns; }
};

struct Difference {
    bool tested = false;
    double before_ns = 0;  // all functions' self, means
    double after_ns = 0;
    double before_span_ns = 0;  // recorded, means
    double after_span_ns = 0;
    double p = 1;          // likewise of the whole
    std::vector<Compared> functions;  // the largest change first, whichever way
    std::vector<Compared> paths;
};
inline constexpr double significant_rate = 0.05;
// If spans differ by more than this factor, texts say so: times are sums over the spans.
inline constexpr double similar_spans = 1.25;

// At least one run on each side.
Difference compare(const std::vector<RunSums>& before, const std::vector<RunSums>& after);

// The page's data (views/page/html.hpp): times are those after, with the paths' own times before beside them, which makes its
// flame graph a differential one. What has gone is only in the facts.
std::string view_json(const Names& names, const Difference& difference, const std::string& title,
                      const std::string& headline, std::size_t most_paths = 50'000);

// Welch's t-test, two-sided: how likely means so far apart are of one distribution. 1 where there are fewer than two
// of either; 0 or 1 where neither side varies.
double welch(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace nopscope::host
