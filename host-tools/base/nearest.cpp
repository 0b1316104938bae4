// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/nearest.hpp"

#include <algorithm>
#include <utility>

#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

constexpr std::size_t longest = 200;  // limits the time: a product of two lengths
constexpr std::size_t most_shown = 3;

// The edit distance in letters.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
        }
    }
    return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
    if (word.size() > longest) return {};
    std::vector<std::pair<std::size_t, std::string_view>> near;
    for (const std::string& name : names) {
        if (name.size() > longest) continue;
        const std::size_t letters = distance(word, name);
        if (letters <= (word.size() + 1) / 3) near.emplace_back(letters, name);
    }
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    const std::size_t shown = std::min(most_shown, near.size());
    std::string text;
    for (std::size_t n = 0; n < shown; ++n) {
        text += (n == 0           ? ": did you mean "
                 : n + 1 == shown ? " or "
                                  : ", ") +
                for_cell(near[n].second);
    }
    return text.empty() ? text : text + "?";
}

}  // namespace nopscope::host
