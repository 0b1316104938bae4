// SPDX-License-Identifier: Apache-2.0
// Limits a command's memory to --memory N, or 300 MB. Two mechanisms do this:
//
//   MemoryBudget   Containers that grow with a recording charge each new entry before they take the
//                  memory. A refused entry is merged with others or left out, and counted. So a
//                  recording that is too large still gives a report.
//   the kernel     limit_memory() sets RLIMIT_DATA. Other allocations fail as std::bad_alloc. In
//                  any thread this ends the command with a sentence and exit code 3 (Exit::input).
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

namespace nopscope::host {

inline constexpr std::uint64_t default_memory_bytes = 300'000'000;
inline constexpr std::uint64_t least_memory_bytes = 50'000'000;

// Returns bytes: "500MB", "2GB", "1.5GiB", "300000000". Nothing: `text` is not a size.
std::optional<std::uint64_t> read_size(const std::string& text);

// The limit that --memory gave, in bytes.
std::uint64_t memory_limit();
// Call it once at the start of main. From now on, this process gets at most `bytes` more memory. A
// build with sanitizers sets only the budgets, because the sanitizers' memory would count, too.
void limit_memory(std::uint64_t bytes);
// Raises the limit by `bytes`, for an image's symbols, which do not count.
void allow_memory(std::uint64_t bytes);
// Gives threads stacks of 1 MB from now on, and raises the limit for `count` of them.
void allow_threads(unsigned count);
// Call it in a child before exec(): the limit is for this program only.
void lift_memory_limit();

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

inline constexpr char out_of_memory_sentence[] =
    "out of memory: give it more (--memory N), a shorter recording or a smaller image";

// what() of an Error, or out_of_memory_sentence for std::bad_alloc and std::length_error.
std::string sentence_of(const std::exception& error);

// Prints the sentence and ends the process, for libraries that cannot continue. Allocates nothing.
[[noreturn]] void exit_out_of_memory();

// From now on, an uncaught exception in any thread ends the process: a sentence and exit code 3.
void catch_in_all_threads();

}  // namespace nopscope::host
