// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli; RFC 3720, appendix B.4): reflected polynomial 0x82f63b78, initial value and
// final xor all ones. "123456789" gives 0xe3069283.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nopscope::protocol {

struct Crc32cTable {
    std::uint32_t entry[256]{};
    constexpr Crc32cTable() {
        for (std::uint32_t byte = 0; byte < 256; ++byte) {
            std::uint32_t crc = byte;
            for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? 0x82f63b78u : 0u);
            entry[byte] = crc;
        }
    }
};
inline constexpr Crc32cTable crc32c_table{};

// `crc`: 0 to start, or what an earlier call returned, to continue after its bytes.
constexpr std::uint32_t crc32c(const std::uint8_t* from, std::size_t count, std::uint32_t crc = 0) {
    crc = ~crc;
    for (std::size_t i = 0; i < count; ++i) {
        crc = (crc >> 8) ^ crc32c_table.entry[(crc ^ from[i]) & 0xff];
    }
    return ~crc;
}

}  // namespace nopscope::protocol
