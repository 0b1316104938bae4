// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/function_glob.hpp"

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

}  // namespace nopscope::host
