// SPDX-License-Identifier: Apache-2.0
// The unit of tests/budget.toml: the CPU time that it takes to compile this. It must not change.
#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>

std::map<std::string, std::vector<std::string>> words_of(const std::vector<std::string>& lines) {
    static const std::regex word("([a-z]+)([0-9]*)");
    std::map<std::string, std::vector<std::string>> found;
    for (const std::string& line : lines) {
        for (std::sregex_iterator at(line.begin(), line.end(), word), end; at != end; ++at) {
            found[(*at)[1]].push_back((*at)[2]);
        }
    }
    for (auto& [name, numbers] : found) std::sort(numbers.begin(), numbers.end());
    return found;
}
