// SPDX-License-Identifier: Apache-2.0
// gmon.out, version 1 (gprof/gmon_out.h describes it): a histogram of where time went, and the calls from one
// function to another. gprof needs the image beside it. A bin is 4 bytes of text and holds 16 bits, so the unit
// of time is chosen such that the function with the most fills one; a function's own time is in its first bin.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/views/export/little_endian.hpp"
#include "host-tools/analysis/report/tree.hpp"

namespace nopscope {
namespace {

constexpr std::uint64_t bin_bytes = 4;
constexpr std::uint64_t most_bins = std::uint64_t{1} << 24;  // 64 MiB of text
constexpr std::uint64_t full = 0xffff;
constexpr char histogram_tag = 0;
constexpr char arc_tag = 1;

template <typename Integer>
void put(FileWriter& to, Integer value) {
    char bytes[sizeof value];
    to.write({bytes, static_cast<std::size_t>(put_little(bytes, value) - bytes)});
}

struct ByAddress {
    std::map<std::uint64_t, std::uint64_t> self_ns;                            // by address
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> calls;  // from, to
};

ByAddress sums_of(const PathTree& tree) {
    ByAddress sums;
    for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
        const TreeNode& node = tree.nodes[i];
        const std::uint64_t address = tree.functions[node.function].address;
        if (address == 0) continue;  // no function's
        sums.self_ns[address] += node.self_ns;
        // gprof takes an arc from an address outside the text for "<spontaneous>".
        const std::uint64_t from = node.parent == 0 ? 0 : tree.functions[tree.nodes[node.parent].function].address;
        if (node.calls != 0) sums.calls[{from, address}] += node.calls;
    }
    return sums;
}

void write_histogram(FileWriter& file, const ByAddress& sums) {
    const std::uint64_t low = sums.self_ns.begin()->first & ~(bin_bytes - 1);
    const std::uint64_t bins = (sums.self_ns.rbegin()->first - low) / bin_bytes + 1;
    if (bins > most_bins) {
        throw Error(fmt::format("gmon: the functions lie over {} MiB of memory, and it is made for {}",
                                bins * bin_bytes >> 20, most_bins * bin_bytes >> 20));
    }
    std::uint64_t most = 1;
    for (const auto& [address, ns] : sums.self_ns) most = std::max(most, ns);
    // Units a second: gprof reads 32 bits.
    const std::uint64_t rate = std::clamp<std::uint64_t>(
        static_cast<std::uint64_t>(static_cast<double>(full) * 1e9 / static_cast<double>(most)), 1, 1'000'000'000);
    file.write({&histogram_tag, 1});
    put(file, low);
    put(file, low + bins * bin_bytes);
    put(file, static_cast<std::uint32_t>(bins));
    put(file, static_cast<std::uint32_t>(rate));
    file.write({"seconds\0\0\0\0\0\0\0\0", 15});
    file.write("s");
    std::uint64_t at = 0;
    for (const auto& [address, ns] : sums.self_ns) {
        for (const std::uint64_t bin = (address - low) / bin_bytes; at < bin; ++at) put(file, std::uint16_t{0});
        const double units = static_cast<double>(ns) * static_cast<double>(rate) / 1e9;
        put(file, static_cast<std::uint16_t>(std::min<double>(units + 0.5, static_cast<double>(full))));
        ++at;
    }
}

}  // namespace

std::string write_gmon(const Output& output, const Aggregated& from) {
    const PathTree tree = path_tree(from);
    const ByAddress sums = sums_of(tree);
    FileWriter file(output);
    file.write("gmon");
    put(file, std::uint32_t{1});
    file.write({"\0\0\0\0\0\0\0\0\0\0\0\0", 12});
    if (!sums.self_ns.empty()) write_histogram(file, sums);
    for (const auto& [arc, calls] : sums.calls) {
        file.write({&arc_tag, 1});
        put(file, arc.first);
        put(file, arc.second);
        put(file, static_cast<std::uint32_t>(std::min<std::uint64_t>(calls, 0xffff'ffff)));
    }
    file.close();
    std::string left_out = left_out_of_sums(from.report);
    if (tree.has_samples) {
        if (!left_out.empty()) left_out += ", ";
        left_out += with_commas(from.report.samples.count) + " samples";
    }
    return left_out;
}

}  // namespace nopscope
