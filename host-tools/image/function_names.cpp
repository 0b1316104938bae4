// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/function_names.hpp"

#include <algorithm>

namespace nopscope::host {
namespace {

constexpr std::string_view suffixes[] = {"part",     "constprop", "isra",      "cold",
                                         "lto_priv", "llvm",      "localalias"};

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}
void trim(std::string_view& name) {
    while (name.ends_with(' ')) name.remove_suffix(1);
}

// Removes ".part.0" from the end. False: there is no such suffix, or nothing before it.
bool take_suffix(std::string_view& name, bool& is_piece) {
    std::string_view rest = name;
    std::size_t dot = rest.rfind('.');
    if (dot == std::string_view::npos) return false;
    std::string_view word = rest.substr(dot + 1);
    if (is_number(word)) {
        rest = rest.substr(0, dot);
        dot = rest.rfind('.');
        if (dot == std::string_view::npos) return false;
        word = rest.substr(dot + 1);
    }
    if (dot == 0 || std::find(std::begin(suffixes), std::end(suffixes), word) == std::end(suffixes))
        return false;
    is_piece |= word == "part" || word == "cold";
    name = rest.substr(0, dot);
    return true;
}

// Removes " [clone .part.0]" from the end. False: the brackets have anything but suffixes.
bool take_brackets(std::string_view& name, bool& is_piece) {
    constexpr std::string_view begin = " [clone ";
    const std::size_t at = name.rfind(begin);
    if (!name.ends_with(']') || at == std::string_view::npos || at == 0) return false;
    // Includes one character before the suffixes, because take_suffix() needs one.
    std::string_view inside =
        name.substr(at + begin.size() - 1, name.size() - 1 - (at + begin.size() - 1));
    bool piece = false;
    while (take_suffix(inside, piece)) {
    }
    trim(inside);
    if (!inside.empty()) return false;
    is_piece |= piece;
    name = name.substr(0, at);
    return true;
}

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

bool matches_name(std::string_view glob, std::string_view name) {
    const std::string_view origin = clone_name(name).origin;
    return glob_matches(glob, name) || glob_matches(glob, origin) ||
           glob_matches(glob, without_parameters(origin));
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

CloneName clone_name(std::string_view name) {
    CloneName found{name};
    while (take_suffix(found.origin, found.is_piece) ||
           take_brackets(found.origin, found.is_piece)) {
    }
    return found;
}

bool names_function(std::string_view glob, std::string_view name,
                    const std::vector<std::string>& aliases) {
    return matches_name(glob, name) ||
           std::any_of(aliases.begin(), aliases.end(),
                       [&](const std::string& alias) { return matches_name(glob, alias); });
}

}  // namespace nopscope::host
