// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// An unconditional branch.
enum class Branch : std::uint8_t { none, call, jump, ret };
