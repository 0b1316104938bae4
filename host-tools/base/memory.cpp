// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/memory.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

// Buffers of a file, a compressed block and an output; they do not depend on the recording.
constexpr std::uint64_t fixed_bytes = 40'000'000;

// More memory than any machine has.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 48;

std::uint64_t limit = default_memory_bytes;

}  // namespace

std::optional<std::uint64_t> read_size(const std::string& text) {
    std::string_view unit = text;
    const auto number = take_decimal(unit);
    if (!number) return std::nullopt;
    static constexpr struct {
        std::string_view name;
        double bytes;
    } units[] = {{"", 1},     {"B", 1},        {"kB", 1e3},     {"KB", 1e3},    {"MB", 1e6},
                 {"GB", 1e9}, {"TB", 1e12},    {"k", 1e3},      {"K", 1e3},     {"M", 1e6},
                 {"G", 1e9},  {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}};
    for (const auto& [name, bytes] : units) {
        if (unit != name) continue;
        const double size = std::round(*number * bytes);
        if (size > static_cast<double>(most_bytes)) return std::nullopt;
        return static_cast<std::uint64_t>(size);
    }
    return std::nullopt;
}

std::uint64_t memory_limit() { return limit; }
void limit_budgets(std::uint64_t bytes) { limit = bytes; }

MemoryBudget::MemoryBudget(double share)
    : left_(static_cast<std::uint64_t>(
          share * static_cast<double>(limit - std::min(limit, fixed_bytes)))) {}

}  // namespace nopscope::host
