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

// What stands before the value of a field.
template <typename Field>
constexpr std::uint64_t number_tag(Field field) {
    return static_cast<std::uint64_t>(field) << 3;
}
template <typename Field>
constexpr std::uint64_t bytes_tag(Field field) {
    return number_tag(field) | 2;
}

// A message. A field's number is an integer, or of an enumeration.
class Proto {
public:
    template <typename Field>
    Proto& number(Field field, std::uint64_t value) {
        return varint(number_tag(field)).varint(value);
    }
    // A negative number takes ten bytes, like an int64.
    template <typename Field>
    Proto& integer(Field field, std::int64_t value) {
        return number(field, static_cast<std::uint64_t>(value));
    }
    template <typename Field>
    Proto& bytes(Field field, std::string_view value) {
        varint(bytes_tag(field)).varint(value.size());
        text_ += value;
        return *this;
    }
    // Adds the fields of `more`.
    Proto& add(const Proto& more) {
        text_ += more.text_;
        return *this;
    }
    template <typename Field>
    Proto& message(Field field, const Proto& value) {
        return bytes(field, value.text_);
    }
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
