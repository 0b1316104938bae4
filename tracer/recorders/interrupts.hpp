// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nopscope/interrupts.hpp"

namespace nopscope {

// As interrupt_begin(), called from the address `where`.
std::uint64_t interrupt_begin_at(std::uint32_t number, std::uint64_t where);

}  // namespace nopscope
