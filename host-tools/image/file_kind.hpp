// SPDX-License-Identifier: Apache-2.0
// Names the files that people give in place of a linked image.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace nopscope::host {

// Says what a file is that begins with these bytes (the first 64 are enough), and what to give
// instead: the end of a sentence about it. Nothing: a linked image of a known architecture.
std::optional<std::string> no_image(std::span<const std::uint8_t> head);

}  // namespace nopscope::host
