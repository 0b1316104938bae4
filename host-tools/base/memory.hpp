// SPDX-License-Identifier: Apache-2.0
// The memory that a command may take: --memory N, 300 MB without it. Two things keep a command below it.
//
//   MemoryBudget   Containers that grow with a recording charge each new entry to it, before they take the memory. A
//                  refused entry is merged with others or left out, and counted. So a true recording that is too
//                  large still gives a report.
//   the kernel     limit_memory() sets RLIMIT_DATA. What no budget foresees fails as std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nopscope::host {

inline constexpr std::uint64_t default_memory_bytes = 300'000'000;
inline constexpr std::uint64_t least_memory_bytes = 50'000'000;

// "500MB", "2GB", "1.5GiB", "300000000": bytes. Nothing: it is no such size.
std::optional<std::uint64_t> read_size(const std::string& text);

// What --memory gave, bytes.
std::uint64_t memory_limit();
// Call once, at the start, from main. From now on this process gets at most `bytes` more than it has.
// A build with sanitizers, whose own memory counts too, sets only the budgets.
void limit_memory(std::uint64_t bytes);
// An image's own symbols are beyond the limit: raises it by `bytes`.
void allow_memory(std::uint64_t bytes);
// From now on threads have stacks of 1 MB. Raises the limit by so many of them.
void allow_threads(unsigned count);
// In a child, before exec(): the limit is this program's.
void lift_memory_limit();

// Entries are charged before they are made. The price of an entry has in it what reports and exports need for it
// later, so the budget is less than the limit only by what a command needs for an empty recording.
class MemoryBudget {
public:
    // `share`: of the limit, 0..1. Several containers in one command share it out.
    explicit MemoryBudget(double share = 1);

    // False: there is no room, and nothing is charged.
    bool take(std::uint64_t bytes) {
        if (bytes > left_) return false;
        left_ -= bytes;
        return true;
    }
    void give_back(std::uint64_t bytes) { left_ += bytes; }
    std::uint64_t left() const { return left_; }

private:
    std::uint64_t left_;
};

}  // namespace nopscope::host
