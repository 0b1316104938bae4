// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/diff/builds.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include "host-tools/image/function_names.hpp"
#include "host-tools/image/source_text.hpp"

namespace nopscope::host {
namespace {

// Above it, functions of one name match only by equal files: no real program has so many.
constexpr std::size_t most_pairs = 10'000;

// "/a/./b/../c.c" -> "/a/c.c"; also of a path of Windows.
std::string normal(const std::string& file) {
    return std::filesystem::path(source_path(file)).lexically_normal();
}

// The length of the longest end that both have, in whole components. 0: not even the file's name.
std::size_t common_end(const std::string& a, const std::string& b) {
    std::size_t length = 0, whole = 0;
    while (length < a.size() && length < b.size() &&
           a[a.size() - 1 - length] == b[b.size() - 1 - length]) {
        if (a[a.size() - 1 - length++] == '/') whole = length;
    }
    const auto ends = [&](const std::string& file) {
        return length == file.size() || file[file.size() - 1 - length] == '/';
    };
    return ends(a) && ends(b) ? length : whole;
}

struct Pair {
    std::string directory, known_directory;  // what comes before the common end
    std::size_t end = 0;                     // its length
    std::size_t file = 0, known = 0;         // indexes
};
std::vector<Pair> pairs_of(const std::vector<std::string>& files,
                           const std::vector<std::string>& known) {
    std::vector<Pair> pairs;
    if (files.size() * known.size() > most_pairs) return pairs;
    std::vector<std::string> others;
    for (const std::string& file : known) others.push_back(normal(file));
    for (std::size_t n = 0; n < files.size(); ++n) {
        const std::string file = normal(files[n]);
        for (std::size_t k = 0; k < others.size(); ++k) {
            const std::string& other = others[k];
            const std::size_t end = common_end(file, other);
            if (end == 0) continue;
            pairs.push_back({file.substr(0, file.size() - end), other.substr(0, other.size() - end),
                             end, n, k});
        }
    }
    return pairs;
}

}  // namespace

void Builds::add(const Symbols& symbols) {
    const auto each = [&](auto visit) {
        for (const std::vector<Function>* list : {&symbols.sites, &symbols.code})
            for (const Function& function : *list) visit(function);
    };
    std::set<std::string_view> names;
    each([&](const Function& f) { names.insert(f.name); });
    std::map<Id, Id> now;
    std::map<std::string, std::set<std::string>> files_of;
    each([&](const Function& f) {
        std::string name = f.name;
        if (!known_.contains(std::string(clone_name(name).origin))) {
            for (const std::string& alias : f.aliases)
                if (known_.contains(alias) && !names.contains(alias)) name = alias;
        }
        files_of[std::string(clone_name(name).origin)].insert(f.file);
        now[{f.name, f.file}] = {std::move(name), f.file};
    });
    struct Matching {
        Files files;
        std::vector<Pair> pairs;
    };
    std::map<std::string, Matching> matchings;
    std::map<std::pair<std::string, std::string>, std::size_t> votes;  // for directories
    for (const auto& [name, files] : files_of) {
        Matching& of = matchings[name];
        of.files.assign(files.begin(), files.end());
        of.pairs = pairs_of(of.files, known_[name]);
        for (const Pair& pair : of.pairs) ++votes[{pair.directory, pair.known_directory}];
    }
    std::map<Id, std::string> same;  // by name in the source and file: the known file
    for (auto& [name, of] : matchings) {
        Files& known = known_[name];
        const auto rank = [&](const Pair& pair) {
            return std::tuple(votes[{pair.directory, pair.known_directory}], pair.end);
        };
        std::stable_sort(of.pairs.begin(), of.pairs.end(),
                         [&](const Pair& a, const Pair& b) { return rank(a) > rank(b); });
        std::vector<bool> is_taken(known.size()), is_matched(of.files.size());
        const auto match = [&](std::size_t file, std::size_t with) {
            is_taken[with] = is_matched[file] = true;
            same[{name, of.files[file]}] = known[with];
        };
        for (const Pair& pair : of.pairs)
            if (!is_taken[pair.known] && !is_matched[pair.file]) match(pair.file, pair.known);
        const auto index_of_last = [](const std::vector<bool>& of_them) {
            const auto at = std::find(of_them.begin(), of_them.end(), false);
            return std::find(at == of_them.end() ? at : at + 1, of_them.end(), false) ==
                           of_them.end()
                       ? static_cast<std::size_t>(at - of_them.begin())
                       : of_them.size();
        };
        const std::size_t file = index_of_last(is_matched), left = index_of_last(is_taken);
        if (file < is_matched.size() && left < is_taken.size()) match(file, left);
        for (std::size_t n = 0; n < of.files.size(); ++n)
            if (!is_matched[n] && std::find(known.begin(), known.end(), of.files[n]) == known.end())
                known.push_back(of.files[n]);
    }
    for (auto& [id, of] : now) {
        const auto found = same.find({std::string(clone_name(of.first).origin), of.second});
        if (found != same.end()) of.second = found->second;
    }
    current_ = std::move(now);
}

Builds::Id Builds::id_of(const std::string& name, const std::string& file) const {
    const auto found = current_.find({name, file});
    return found != current_.end() ? found->second : Id(name, file);
}

std::string telling_end(const std::string& file, const std::vector<std::string>& others) {
    const std::string path = normal(file);
    std::size_t longest = 0;
    for (const std::string& other : others)
        longest = std::max(longest, common_end(path, normal(other)));
    if (longest >= path.size()) return path;
    // One component more than what it has in common.
    const std::size_t end = path.size() - longest;
    const std::size_t slash = end < 2 ? path.npos : path.rfind('/', end - 2);
    return path.substr(slash == path.npos ? 0 : slash + 1);
}

}  // namespace nopscope::host
