// SPDX-License-Identifier: Apache-2.0
// Limits a command's memory to --memory N, or 300 MB. Two mechanisms do this:
//
//   MemoryBudget   Containers that grow with a recording charge each new entry before they take the
//                  memory. A refused entry is merged with others or left out, and counted. So a
//                  recording that is too large still gives a report.
//   the kernel     limit_memory() (process_memory.hpp) sets RLIMIT_DATA. Other allocations fail as
//                  std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nopscope::host {

inline constexpr std::uint64_t default_memory_bytes = 300'000'000;
inline constexpr std::uint64_t least_memory_bytes = 50'000'000;

// Returns bytes: "500MB", "2GB", "1.5GiB", "300000000". Nothing: `text` is not a size.
std::optional<std::uint64_t> read_size(const std::string& text);

// The limit that --memory gave, in bytes.
std::uint64_t memory_limit();
// Sets it, for budgets that are made from now on.
void limit_budgets(std::uint64_t bytes);

// Charge an entry before you make it. Its price includes the memory that reports and exports later
// need for it. The budget is the limit, less what a command needs for an empty recording.
class MemoryBudget {
public:
    // `share`: part of the limit, 0..1. Several containers of a command divide the limit.
    explicit MemoryBudget(double share = 1);

    // Returns false, and charges nothing, if there is no room.
    bool take(std::uint64_t bytes) {
        if (bytes > left_) return false;
        left_ -= bytes;
        return true;
    }
    void release(std::uint64_t bytes) { left_ += bytes; }
    std::uint64_t left() const { return left_; }
    // Gives half of what is left to another container.
    MemoryBudget half() {
        MemoryBudget other = *this;
        left_ -= other.left_ /= 2;
        return other;
    }

private:
    std::uint64_t left_;
};

}  // namespace nopscope::host
