// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/image/function_names.hpp"

namespace nopscope::host {
namespace {

bool any_names(const std::vector<std::string>& globs, const Function& function) {
    return std::any_of(globs.begin(), globs.end(),
                       [&](const std::string& glob) { return names_function(glob, function); });
}

}  // namespace

std::vector<Problem> not_allowed(std::vector<Problem> broken,
                                 const std::vector<std::string>& allowed) {
    std::erase_if(broken, [&](const Problem& one) {
        return std::ranges::any_of(
            allowed, [&](const std::string& glob) { return names_function(glob, one.function); });
    });
    return broken;
}

std::vector<bool> choose(const Symbols& symbols, const Choice& choice) {
    for (const auto* globs : {&choice.filter, &choice.notrace}) {
        for (const std::string& glob : *globs) {
            if (std::none_of(symbols.sites.begin(), symbols.sites.end(),
                             [&](const Function& f) { return names_function(glob, f); })) {
                std::vector<std::string> names;
                for (const Function& site : symbols.sites) add_names(names, site);
                const std::string near = did_you_mean(glob, names);
                throw Error(fmt::format("no traceable function of {} is called {}{}",
                                        symbols.origin, for_cell(glob),
                                        near.empty()
                                            ? fmt::format(": `nopscope info --sites {}` lists them",
                                                          symbols.origin)
                                            : near),
                            Exit::usage);
            }
        }
    }
    std::vector<bool> chosen(symbols.sites.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        const Function& function = symbols.sites[i];
        chosen[i] = (choice.filter.empty() || any_names(choice.filter, function)) &&
                    !any_names(choice.notrace, function) &&
                    (!choice.size_above || function.size > *choice.size_above);
    }
    if (std::find(chosen.begin(), chosen.end(), true) == chosen.end()) {
        throw Error("of the functions asked for none is left", Exit::usage);
    }
    return chosen;
}

}  // namespace nopscope::host
