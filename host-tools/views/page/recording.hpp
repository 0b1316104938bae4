// SPDX-License-Identifier: Apache-2.0
// The recording that a page carries, so that its engine (views/engine/) has all calls.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "host-tools/image/symbols.hpp"
#include "host-tools/views/page/html.hpp"

namespace nopscope::host {

// A page with more would need more memory than browsers give it.
inline constexpr std::uint64_t most_embedded_bytes = 300'000'000;

// The engine's limit (base/memory.hpp); its module gets at most 2 GiB.
inline constexpr std::uint64_t page_memory_bytes = 1'600'000'000;

// What the page's engine is told (web/src/worker.ts).
struct EmbeddedRecording {
    std::span<const std::uint8_t> bytes = {};
    std::string file = {};  // the recording's name
    std::string title = {};
    // In the page's view. Empty: the engine makes it.
    Positions functions = {};
    bool raw = false;
    bool on_cpu = false;
    std::uint64_t memory = page_memory_bytes;
};

// The text of the page's element `opening`.
std::string opening_json(const EmbeddedRecording& recording);
// Of a page that compares two.
std::string opening_json(const EmbeddedRecording& before, const EmbeddedRecording& after);

// The recording with these symbols as its first, which count before its own.
std::vector<std::uint8_t> with_symbols(std::span<const std::uint8_t> recording,
                                       const Symbols& symbols);

// RFC 4648, with padding.
std::string base64(std::span<const std::uint8_t> bytes);

}  // namespace nopscope::host
