// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "host-tools/image/symbols.hpp"
#include "host-tools/line/stream/session.hpp"

namespace nopscope::host {

// A sentence why these symbols cannot name this target's functions, or nothing.
std::optional<std::string> mismatch(const Symbols& symbols, const HelloInfo& hello);

}  // namespace nopscope::host
