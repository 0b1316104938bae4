// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tracer/protocol/bytes.hpp"

namespace nopscope::host::nsc {

// Builds a payload; grows as needed.
class Payload {
public:
    template <typename T>
    Payload& fixed(T value) {
        protocol::Byte bytes[sizeof(T)];
        protocol::Writer(bytes).fixed(value);
        return raw(bytes);
    }
    Payload& varint(std::uint64_t value) {
        protocol::Byte bytes[protocol::max_varint_bytes];
        protocol::Writer out(bytes);
        out.varint(value);
        return raw({bytes, out.size()});
    }
    Payload& text(std::string_view value) {
        varint(value.size());
        return raw({reinterpret_cast<const protocol::Byte*>(value.data()), value.size()});
    }
    Payload& raw(std::span<const protocol::Byte> from) {
        bytes_.insert(bytes_.end(), from.begin(), from.end());
        return *this;
    }
    std::span<const std::uint8_t> bytes() const { return bytes_; }
    void clear() { bytes_.clear(); }

private:
    std::vector<std::uint8_t> bytes_;
};

// Reads what Payload::text wrote. If a part is missing, `in` fails.
inline std::string read_text(protocol::Reader& in) {
    const std::uint64_t size = in.varint();
    const std::size_t count = size <= in.left() ? static_cast<std::size_t>(size) : in.left() + 1;
    const auto* bytes = reinterpret_cast<const char*>(in.bytes(count));
    return bytes == nullptr ? std::string() : std::string(bytes, count);
}

}  // namespace nopscope::host::nsc
