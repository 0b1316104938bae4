// SPDX-License-Identifier: Apache-2.0
// How a user may ask for a function: by its name, demangled or not, a C++ name without parameters,
// an alias, or the name that a compiler's clone has in the source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nopscope::host {

// True if the whole text matches: `*` is any characters, `?` is one character.
bool glob_matches(std::string_view glob, std::string_view text);

struct CloneName {
    std::string_view origin;  // points into `name`
    bool is_piece = false;    // a part of the origin's body, not another version of it
};
// Takes off the suffixes of compilers' clones (f.part.0, f.constprop.1.isra.0, f.cold,
// f.lto_priv.2, f.llvm.123), also of the demanglers' form, "f(int) [clone .part.0]". Without such a
// suffix: `name` itself.
CloneName clone_name(std::string_view name);

// True if `glob` matches one of the names by which a user may ask for the function.
bool names_function(std::string_view glob, std::string_view name,
                    const std::vector<std::string>& aliases = {});
// The same of a Function or a FunctionPlace.
template <typename Named>
requires requires(const Named& function) { function.aliases; }
bool names_function(std::string_view glob, const Named& function) {
    return names_function(glob, function.name, function.aliases);
}

// Adds the function's names for did_you_mean().
template <typename Named>
void add_names(std::vector<std::string>& to, const Named& function) {
    to.push_back(function.name);
    to.emplace_back(clone_name(function.name).origin);
    to.insert(to.end(), function.aliases.begin(), function.aliases.end());
}

}  // namespace nopscope::host
