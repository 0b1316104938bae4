// SPDX-License-Identifier: Apache-2.0
// A CRC is linear. If two messages of one length differ by d (by XOR), their CRCs differ by the
// register that d alone leaves, beginning with a register of zero. A byte e leaves entry[e], and
// each zero byte after it steps the register. The repair undoes these steps, from the last byte to
// the first. Where the register is entry[e], the byte is wrong by e.
#include "host-tools/recording/repair.hpp"

#include <array>
#include <cstddef>
#include <optional>

#include "tracer/protocol/crc32c.hpp"

namespace nopscope::host::nsc {
namespace {

constexpr const std::uint32_t (&entry)[256] = protocol::crc32c_table.entry;

// No two entries have the same highest byte, so it tells which entry a step has added.
constexpr std::array<std::uint8_t, 256> entry_by_highest_byte = [] {
    std::array<std::uint8_t, 256> by{};
    for (std::uint32_t i = 0; i < 256; ++i) by[entry[i] >> 24] = static_cast<std::uint8_t>(i);
    return by;
}();

}  // namespace

bool repair_byte(std::span<std::uint8_t> bytes, std::uint32_t crc) {
    std::uint32_t difference = protocol::crc32c(bytes.data(), bytes.size()) ^ crc;
    std::optional<std::size_t> place;
    std::uint8_t change = 0;
    for (std::size_t at = bytes.size(); at-- != 0;) {
        const std::uint8_t e = entry_by_highest_byte[difference >> 24];
        if (e != 0 && entry[e] == difference) {
            if (place) return false;
            place = at;
            change = e;
        }
        difference = (difference ^ entry[e]) << 8 | e;
    }
    if (!place) return false;
    bytes[*place] ^= change;
    return true;
}

}  // namespace nopscope::host::nsc
