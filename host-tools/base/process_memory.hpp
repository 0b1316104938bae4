// SPDX-License-Identifier: Apache-2.0
// The limit of this process's memory, which the kernel enforces (base/memory.hpp).
#pragma once

#include <cstdint>

namespace nopscope::host {

// Call it once at the start of main. From now on, this process gets at most `bytes` more memory. A
// build with sanitizers sets only the budgets, because the sanitizers' memory would count, too.
void limit_memory(std::uint64_t bytes);
// Raises the limit by `bytes`, for an image's symbols, which do not count.
void allow_memory(std::uint64_t bytes);
// Gives threads stacks of 1 MB from now on, and raises the limit for `count` of them.
void allow_threads(unsigned count);
// Call it in a child before exec(): the limit is for this program only.
void lift_memory_limit();

}  // namespace nopscope::host
