// SPDX-License-Identifier: Apache-2.0
// The bytes of CTF events: little-endian, aligned to a byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "host-tools/views/export/little_endian.hpp"

namespace nopscope::host {

class CtfEvent {
public:
    static constexpr unsigned class_bits = 5;
    static constexpr unsigned time_bits = 32 - class_bits;
    static constexpr std::uint8_t extended = (1u << class_bits) - 1;

    // Adds an event's header. A reader completes the 27 bits to the next time after `last` that
    // ends in them. If this is not `now`, or `last` is unknown (`full`), all 64 bits follow.
    void begin(std::uint8_t which, std::uint64_t now, std::uint64_t last, bool full) {
        if (full || now - last >= std::uint64_t{1} << time_bits) {
            add(extended);
            add(std::uint32_t{which});
            add(now);
        } else {
            add(static_cast<std::uint32_t>(which | now << class_bits));
        }
    }
    template <typename Integer>
    CtfEvent& add(Integer value) {
        char bytes[sizeof value];
        put_little(bytes, value);
        bytes_.append(bytes, sizeof bytes);
        return *this;
    }
    // Adds `text` up to its first zero byte, and a zero byte.
    CtfEvent& text(std::string_view text) {
        bytes_ += text.substr(0, text.find('\0'));
        bytes_ += '\0';
        return *this;
    }
    const std::string& bytes() const { return bytes_; }
    void clear() { bytes_.clear(); }

private:
    std::string bytes_;
};

}  // namespace nopscope::host
