// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/diff/clones.hpp"

#include <algorithm>
#include <set>

#include "host-tools/image/function_names.hpp"

namespace nopscope::host {
namespace {

struct Member {
    std::uint32_t family = 0;  // function number in the new names
    bool is_piece = false;
};

// By old function number.
std::vector<Member> members_of(const Names& names, const std::vector<RunSums>& before,
                               const std::vector<RunSums>& after, Names& folded) {
    const auto seen = [](const std::vector<RunSums>& runs) {
        std::set<std::uint32_t> all;
        for (const RunSums& run : runs) {
            for (const auto& [number, amounts] : run.functions) all.insert(number);
        }
        return all;
    };
    const std::set<std::uint32_t> in_before = seen(before), in_after = seen(after);
    std::map<std::pair<std::string_view, std::string_view>, std::vector<std::uint32_t>> families;
    for (std::uint32_t number = 0; number < names.function_count(); ++number) {
        const FunctionPlace& place = names.place(number);
        families[{clone_name(place.name).origin, place.file}].push_back(number);
    }
    std::vector<Member> members(names.function_count());
    for (const auto& [of, numbers] : families) {
        const bool differ = std::any_of(numbers.begin(), numbers.end(), [&](std::uint32_t number) {
            return in_before.contains(number) != in_after.contains(number);
        });
        const bool folds = differ && numbers.size() > 1;
        for (const std::uint32_t number : numbers) {
            FunctionPlace place = names.place(number);
            const CloneName name = clone_name(place.name);
            if (folds) place.name = std::string(name.origin);
            if (folds) place.aliases.push_back(names.place(number).name);
            members[number] = {folded.function(place), folds && name.is_piece};
            if (folds) folded.add_clone(members[number].family, names.place(number).name);
        }
    }
    return members;
}

struct Paths {
    std::vector<std::uint32_t> to;   // old path -> new path
    std::vector<bool> goes_on;       // a piece: the path is part of its caller's path
    std::vector<bool> is_outermost;  // no path above has the same family
};
Paths fold_paths(const Names& names, const std::vector<Member>& members, Names& folded) {
    Paths paths;
    paths.to.assign(names.path_count(), Names::root);
    paths.goes_on.assign(names.path_count(), false);
    paths.is_outermost.assign(names.path_count(), true);
    for (std::uint32_t path = 1; path < names.path_count(); ++path) {
        const std::uint32_t caller = paths.to[names.caller(path)];
        const Member& member = members[names.last(path)];
        paths.goes_on[path] =
            member.is_piece && caller != Names::root && folded.last(caller) == member.family;
        paths.to[path] = paths.goes_on[path] ? caller : folded.path(caller, member.family);
        if (!folded.is_sum(member.family)) continue;
        for (std::uint32_t above = names.caller(path); above != Names::root;
             above = names.caller(above)) {
            if (members[names.last(above)].family == member.family)
                paths.is_outermost[path] = false;
        }
    }
    return paths;
}

RunSums fold(const RunSums& run, const Names& names, const std::vector<Member>& members,
             const Paths& paths, const Names& folded) {
    RunSums result;
    result.self_ns = run.self_ns;
    result.span_ns = run.span_ns;
    std::map<std::uint32_t, double> totals;    // of families: the sums of their outermost paths
    std::map<std::uint32_t, double> going_on;  // of families: calls of pieces, which do not count
    for (const auto& [path, amounts] : run.paths) {
        const std::uint32_t family = members[names.last(path)].family;
        Amounts& to = result.paths[paths.to[path]];
        to.self_ns += amounts.self_ns;
        if (paths.is_outermost[path]) totals[family] += amounts.total_ns;
        if (paths.goes_on[path]) {
            going_on[family] += amounts.calls;
        } else {
            to.calls += amounts.calls;
            to.total_ns += amounts.total_ns;
        }
    }
    for (const auto& [number, amounts] : run.functions) {
        result.functions[members[number].family].add(amounts);
    }
    for (auto& [family, amounts] : result.functions) {
        if (!folded.is_sum(family)) continue;
        amounts.calls -= going_on[family];
        if (totals.contains(family)) amounts.total_ns = totals[family];
    }
    return result;
}

}  // namespace

Names fold_clones(const Names& names, std::vector<RunSums>& before, std::vector<RunSums>& after) {
    Names folded;
    const std::vector<Member> members = members_of(names, before, after, folded);
    const Paths paths = fold_paths(names, members, folded);
    for (std::vector<RunSums>* const side : {&before, &after}) {
        for (RunSums& run : *side) run = fold(run, names, members, paths, folded);
    }
    return folded;
}

}  // namespace nopscope::host
