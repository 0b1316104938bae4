// SPDX-License-Identifier: Apache-2.0
// Trampolines made at run time.
#pragma once

#include <cstdint>

namespace bench {

inline constexpr unsigned dynamic_stubs = 256;

// Writes trampoline `number`, does cache maintenance, and returns its address. The trampoline is a
// direct entry that calls func(ip, parent_ip, ops, regs).
std::uint64_t make_dynamic(unsigned number, std::uint64_t ops, std::uint64_t func);

}  // namespace bench
