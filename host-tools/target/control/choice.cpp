// SPDX-License-Identifier: Apache-2.0
#include "host-tools/target/control/choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host-tools/base/error.hpp"
#include "host-tools/base/nearest.hpp"
#include "host-tools/base/text.hpp"
#include "tracer/protocol/command.hpp"

namespace nopscope::host {
namespace {

// "lua::call(int) const" -> "lua::call"; "(anonymous namespace)::f(int)" -> the same without (int).
std::string_view without_parameters(std::string_view name) {
    std::size_t end = name.rfind(')');
    if (end == std::string_view::npos) return name;
    int depth = 0;
    for (std::size_t at = end + 1; at-- > 0;) {
        depth += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
        if (depth == 0) return at == 0 ? name : name.substr(0, at);
    }
    return name;
}

bool any_names(const std::vector<std::string>& globs, const Function& function) {
    return std::any_of(globs.begin(), globs.end(),
                       [&](const std::string& glob) { return names_function(glob, function); });
}

}  // namespace

bool glob_matches(std::string_view glob, std::string_view text) {
    std::size_t g = 0, t = 0, star = std::string_view::npos, behind_star = 0;
    while (t < text.size()) {
        if (g < glob.size() && glob[g] == '*') {
            star = ++g;
            behind_star = t;
        } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
            ++g;
            ++t;
        } else if (star != std::string_view::npos) {
            g = star;
            t = ++behind_star;
        } else {
            return false;
        }
    }
    return glob.substr(g).find_first_not_of('*') == std::string_view::npos;
}

bool names_function(std::string_view glob, const Function& function) {
    return glob_matches(glob, function.name) ||
           glob_matches(glob, without_parameters(function.name)) ||
           (!function.linkage_name.empty() && glob_matches(glob, function.linkage_name));
}

std::vector<Problem> not_allowed(std::vector<Problem> broken,
                                 const std::vector<std::string>& allowed) {
    std::erase_if(broken, [&](const Problem& one) {
        return std::ranges::any_of(allowed, [&](const std::string& glob) {
            Function function;
            function.name = one.function;
            return names_function(glob, function);
        });
    });
    return broken;
}

std::vector<bool> choose(const Symbols& symbols, const Choice& choice) {
    for (const auto* globs : {&choice.filter, &choice.notrace}) {
        for (const std::string& glob : *globs) {
            if (std::none_of(symbols.sites.begin(), symbols.sites.end(),
                             [&](const Function& f) { return names_function(glob, f); })) {
                std::vector<std::string> names;
                for (const Function& site : symbols.sites) names.push_back(site.name);
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

std::vector<std::vector<std::uint8_t>> range_payloads(const std::vector<bool>& chosen) {
    std::vector<std::vector<std::uint8_t>> payloads;
    std::size_t behind = 0;  // end of the previous range in this payload
    for (std::size_t first = 0; first < chosen.size();) {
        if (!chosen[first]) {
            ++first;
            continue;
        }
        std::size_t end = first;
        while (end < chosen.size() && chosen[end]) ++end;
        protocol::Byte bytes[2 * protocol::max_varint_bytes];
        // The command itself needs one byte.
        if (payloads.empty() ||
            payloads.back().size() + sizeof bytes + 1 > protocol::max_command_bytes) {
            payloads.emplace_back();
            behind = 0;
        }
        protocol::Writer out(bytes);
        out.varint(first - behind);
        out.varint(end - first);
        payloads.back().insert(payloads.back().end(), bytes, bytes + out.size());
        behind = first = end;
    }
    return payloads;
}

}  // namespace nopscope::host
