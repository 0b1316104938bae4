// SPDX-License-Identifier: Apache-2.0
// The part of Protocol Buffers' wire format that a writer needs: varints, length-delimited fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nopscope::host {

// Writes seven bits in each byte, low ones first; at most ten bytes. Returns the end.
inline char* put_varint(char* to, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
    *to++ = static_cast<char>(value);
    return to;
}

class Proto {
public:
    Proto& number(std::uint32_t field, std::uint64_t value) {
        varint(std::uint64_t{field} << 3);
        varint(value);
        return *this;
    }
    // A negative number takes ten bytes, like an int64.
    Proto& integer(std::uint32_t field, std::int64_t value) {
        return number(field, static_cast<std::uint64_t>(value));
    }
    Proto& bytes(std::uint32_t field, std::string_view value) {
        varint(std::uint64_t{field} << 3 | 2);
        varint(value.size());
        text_ += value;
        return *this;
    }
    // Adds the fields of `more`.
    Proto& add(const Proto& more) {
        text_ += more.text_;
        return *this;
    }
    Proto& message(std::uint32_t field, const Proto& value) { return bytes(field, value.text_); }
    // Adds one number of a packed field.
    Proto& varint(std::uint64_t value) {
        char room[10];
        text_.append(room, put_varint(room, value));
        return *this;
    }

    const std::string& text() const { return text_; }

private:
    std::string text_;
};

}  // namespace nopscope::host
