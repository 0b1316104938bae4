// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "host-tools/image/symbols.hpp"
#include "host-tools/target/stream/session.hpp"

namespace nopscope::host {

// One sentence why these symbols cannot name what this target sends or has sent, or nothing.
std::optional<std::string> mismatch(const Symbols& symbols, const HelloInfo& hello);

}  // namespace nopscope::host
