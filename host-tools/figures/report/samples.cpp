// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/report/samples.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "host-tools/figures/report/report.hpp"

namespace nopscope::host {
namespace {

class Namer {
public:
    Namer(SampleReport& to, const Places& places) : to_(to), places_(places) {}

    // The number of the function around the address; if there is none, of the address itself.
    std::uint32_t function(const Samples::Node& node) {
        const std::uint64_t address = places_.address(static_cast<std::uint64_t>(node.offset));
        // The call is before its return address, which may be the first of another function.
        const Function* const known = places_.around(node.is_return ? address - 1 : address);
        const std::uint64_t begin = known != nullptr ? known->address : address;
        const auto [found, is_new] =
            numbers_.try_emplace(begin, static_cast<std::uint32_t>(to_.places.size()));
        if (is_new) to_.places.push_back(place_of(begin, known));
        return found->second;
    }

private:
    SampleReport& to_;
    const Places& places_;
    std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
};

// The functions of a sample that ends at `number`, the outermost first.
std::vector<std::uint32_t> path_of(const std::vector<Samples::Node>& nodes, std::uint32_t number,
                                   Namer& namer) {
    std::vector<std::uint32_t> path;
    for (; number != Samples::root; number = nodes[number].parent) {
        const std::uint32_t function = namer.function(nodes[number]);
        // The link register has the return address of the last call that the function made.
        if (nodes[number].is_link && !path.empty() && path.back() == function) continue;
        path.push_back(function);
    }
    std::reverse(path.begin(), path.end());
    return path;
}

}  // namespace

void add_samples(Report& report, const Profile& profile, const Places& places) {
    SampleReport& samples = report.samples;
    const auto& nodes = profile.samples().nodes();
    Namer namer(samples, places);
    samples.count = profile.samples().count();
    samples.cut = profile.samples().cut();
    samples.nodes.resize(1);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> children;
    std::vector<std::uint32_t> last_counted;  // by function: the last node that its total includes
    for (std::uint32_t number = 1; number < nodes.size(); ++number) {
        const std::uint64_t count = nodes[number].samples;
        if (count == 0) continue;
        std::uint32_t at = 0;
        for (const std::uint32_t function : path_of(nodes, number, namer)) {
            const auto next = static_cast<std::uint32_t>(samples.nodes.size());
            const auto [found, is_new] = children.try_emplace({at, function}, next);
            if (is_new)
                samples.nodes.push_back(
                    {.parent = at, .function = function, .self = 0, .total = 0});
            at = found->second;
            samples.nodes[at].total += count;
            samples.functions.resize(samples.places.size());
            last_counted.resize(samples.places.size());
            if (std::exchange(last_counted[function], number) != number)
                samples.functions[function].total += count;
        }
        samples.nodes[at].self += count;
        samples.functions[samples.nodes[at].function].self += count;
    }
    for (std::size_t i = 0; i < samples.functions.size(); ++i) {
        SampleRow& row = samples.functions[i];
        static_cast<FunctionPlace&>(row) = samples.places[i];
        row.share = static_cast<double>(row.self) / static_cast<double>(samples.count);
    }
}

void sort_rows(std::vector<SampleRow>& rows, SortKey key, std::size_t top) {
    keep_largest(rows, top, [key](const SampleRow& row) {
        return key == SortKey::total ? std::pair(row.total, row.self)
                                     : std::pair(row.self, row.total);
    });
}

}  // namespace nopscope::host
