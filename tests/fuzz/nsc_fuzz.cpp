// SPDX-License-Identifier: Apache-2.0
// The recording reader. An odd first byte: the rest describes chunks (type u8, size u8, payload),
// whose headers are then made right.
#include <algorithm>
#include <span>
#include <vector>

#include "host-tools/base/error.hpp"
#include "host-tools/nsc/reader.hpp"
#include "tracer/wire/bytes.hpp"
#include "tracer/wire/crc32c.hpp"

namespace {

using Bytes = std::vector<std::uint8_t>;
using namespace nopscope;

template <typename T>
void append(Bytes& to, T value) {
    wire::Byte bytes[sizeof(T)];
    wire::Writer(bytes).fixed(value);
    to.insert(to.end(), bytes, bytes + sizeof(T));
}

Bytes seal(std::span<const std::uint8_t> description) {
    Bytes file(nsc::magic, nsc::magic + sizeof nsc::magic);
    append(file, nsc::version);
    append(file, std::uint16_t{0});
    append(file, wire::crc32c(file.data(), file.size()));
    constexpr nsc::Type types[] = {nsc::Type::about, nsc::Type::symbols, nsc::Type::line,
                                   nsc::Type::end, static_cast<nsc::Type>(77)};
    while (description.size() >= 2) {
        const std::size_t size = std::min<std::size_t>(description[1], description.size() - 2);
        const std::uint8_t* payload = description.data() + 2;
        const std::size_t at = file.size();
        append(file, static_cast<std::uint32_t>(types[description[0] % std::size(types)]));
        append(file, static_cast<std::uint32_t>(size));
        append(file, wire::crc32c(payload, size) ^ (description[0] >> 7));
        append(file, wire::crc32c(file.data() + at, 12));
        file.insert(file.end(), payload, payload + size);
        description = description.subspan(2 + size);
    }
    return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    Bytes bytes(data + 1, data + size);
    if ((data[0] & 1) != 0) bytes = seal(bytes);
    nsc::Reader reader;
    std::size_t at = 0;
    std::size_t line = 0;
    try {
        reader.read(
            [&](std::span<std::uint8_t> to) {
                const std::size_t count = std::min({to.size(), bytes.size() - at, std::size_t{37}});
                std::copy_n(bytes.begin() + static_cast<long>(at), count, to.begin());
                at += count;
                return count;
            },
            [&](std::span<const std::uint8_t> part) { line += part.size(); });
    } catch (const Error&) {
        return 0;
    }
    if (line > bytes.size() || at != bytes.size()) __builtin_trap();
    if (reader.symbols()) {
        for (const Function& site : reader.symbols()->sites) {
            if (reader.symbols()->find(site.address) != &site) __builtin_trap();
        }
    }
    return 0;
}
