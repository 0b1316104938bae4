// SPDX-License-Identifier: Apache-2.0
// The recording reader. With an odd first byte, the rest describes chunks (type u8, size u8,
// payload), which the fuzzer compresses where needed, with correct headers.
#include <algorithm>
#include <span>
#include <vector>

#include "host-tools/base/or_throw.hpp"
#include "host-tools/figures/report/make_report.hpp"
#include "host-tools/recording/reader.hpp"
#include "host-tools/recording/zstd.hpp"
#include "host-tools/views/text/report.hpp"
#include "tracer/protocol/bytes.hpp"
#include "tracer/protocol/crc32c.hpp"

namespace {

using Bytes = std::vector<std::uint8_t>;
using namespace nopscope;
using namespace nopscope::host;

template <typename T>
void append(Bytes& to, T value) {
    protocol::Byte bytes[sizeof(T)];
    protocol::Writer(bytes).fixed(value);
    to.insert(to.end(), bytes, bytes + sizeof(T));
}

Bytes seal(std::span<const std::uint8_t> description) {
    Bytes file(nsc::magic, nsc::magic + sizeof nsc::magic);
    append(file, nsc::version);
    append(file, std::uint16_t{0});
    append(file, protocol::crc32c(file.data(), file.size()));
    constexpr nsc::Type types[] = {nsc::Type::about, nsc::Type::symbols,        nsc::Type::session,
                                   nsc::Type::trace, nsc::Type::items,          nsc::Type::counters,
                                   nsc::Type::end,   static_cast<nsc::Type>(77)};
    nsc::Compressor compress;
    while (description.size() >= 2) {
        const std::size_t size = std::min<std::size_t>(description[1], description.size() - 2);
        const nsc::Type type = types[description[0] % std::size(types)];
        std::span<const std::uint8_t> payload = description.subspan(2, size);
        if (type == nsc::Type::trace || type == nsc::Type::items)
            payload = or_throw(compress(payload));
        const std::size_t at = file.size();
        append(file, static_cast<std::uint32_t>(type));
        append(file, static_cast<std::uint32_t>(payload.size()));
        append(file, protocol::crc32c(payload.data(), payload.size()) ^ (description[0] >> 7));
        append(file, protocol::crc32c(file.data() + at, 12));
        file.insert(file.end(), payload.begin(), payload.end());
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
    Profile profile;
    try {
        or_throw(reader.read(
            [&](std::span<std::uint8_t> to) {
                const std::size_t count = std::min({to.size(), bytes.size() - at, std::size_t{37}});
                std::copy_n(bytes.begin() + static_cast<long>(at), count, to.begin());
                at += count;
                return count;
            },
            profile));
    } catch (const Error&) {
        return 0;
    }
    if (at != bytes.size()) __builtin_trap();
    try {
        if (text_report(or_throw(make_report(profile, reader.counters(), nullptr))).empty())
            __builtin_trap();
    } catch (const Error&) {
    }
    if (reader.symbols()) {
        for (const Function& site : reader.symbols()->sites)
            if (reader.symbols()->find(site.address) != &site) __builtin_trap();
    }
    return 0;
}
