// SPDX-License-Identifier: Apache-2.0
// Switches between stacks, by the architecture's assembly. It cannot be traced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

extern "C" void switch_stacks(std::uint64_t* save_sp, std::uint64_t sp);
extern "C" void call_on_stack(std::uint64_t sp, void (*function)(unsigned), unsigned argument);

// Makes the stack of a task that has not run: switch_stacks() with the returned SP enters `entry`.
[[gnu::always_inline]] inline std::uint64_t first_sp(std::span<unsigned char> stack,
                                                     void (*entry)()) {
#ifdef __riscv
    constexpr std::size_t words = 26, link = 0;  // that switch_stacks() loads
#else
    constexpr std::size_t words = 20, link = 11;
#endif
    auto* const frame = reinterpret_cast<std::uint64_t*>(stack.data() + stack.size() - 16) - words;
    for (std::size_t n = 0; n < words; ++n) frame[n] = 0;
    frame[link] = reinterpret_cast<std::uintptr_t>(entry);
    return reinterpret_cast<std::uintptr_t>(frame);
}
