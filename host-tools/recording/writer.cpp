// SPDX-License-Identifier: Apache-2.0
#include "host-tools/recording/writer.hpp"

#include "host-tools/base/error.hpp"
#include "host-tools/recording/payload.hpp"
#include "tracer/protocol/crc32c.hpp"

namespace nopscope::host::nsc {

Writer::Writer(const std::string& path, const About& about, NewFile::Place place)
    : file_(path, place) {
    protocol::Byte header[file_header_bytes];
    protocol::Writer out(header);
    out.bytes(magic, sizeof magic);
    out.fixed(version);
    out.fixed(std::uint16_t{0});
    out.fixed(protocol::crc32c(header, out.size()));
    put(header);
    Payload payload;
    payload.fixed(about.started_unix_ns).text(about.source).text(about.tool);
    chunk(Type::about, payload.bytes());
    check();
}

void Writer::symbols(const Symbols& symbols) {
    Payload payload;
    payload.text(symbols.origin).text(symbols.build_id).fixed(symbols.site_table_crc);
    for (const std::vector<Function>* list : {&symbols.sites, &symbols.code}) {
        payload.varint(list->size());
        std::uint64_t before = 0;
        for (const Function& function : *list) {
            payload.varint(function.address - before).varint(function.size | !function.landing_pad);
            payload.text(function.name).text(function.file).varint(function.line);
            before = function.address;
        }
    }
    payload.varint(symbols.tails.size());
    for (const TailCalls& tails : symbols.tails) {
        payload.varint(tails.direct.size() << 2 | static_cast<unsigned>(tails.others));
        std::uint32_t before = 0;
        for (const auto& [site, tail] : tails.direct) {
            payload.varint(std::uint64_t{site - before} << 2 | static_cast<unsigned>(tail));
            before = site;
        }
    }
    for (const std::vector<Function>* list : {&symbols.sites, &symbols.code}) {
        for (const Function& function : *list) {
            payload.varint(function.aliases.size());
            for (const std::string& alias : function.aliases) payload.text(alias);
        }
    }
    chunk(Type::symbols, payload.bytes());
    check();
}

void Writer::end(const End& end) {
    Payload payload;
    payload.fixed(static_cast<std::uint8_t>(end.reason))
        .fixed(end.exit_status)
        .fixed(end.line_bytes);
    chunk(Type::end, payload.bytes());
    check();
}

void Writer::check() const {
    if (!failure_.empty()) throw Error(failure_);
}

void Writer::chunk(Type type, std::span<const std::uint8_t> payload) {
    if (payload.size() > max_payload_bytes) {
        throw Error("the image has too many symbols for a recording");
    }
    std::vector<std::uint8_t> bytes(chunk_header_bytes);
    protocol::Writer out(bytes.data());
    out.fixed(static_cast<std::uint32_t>(type));
    out.fixed(static_cast<std::uint32_t>(payload.size()));
    out.fixed(protocol::crc32c(payload.data(), payload.size()));
    out.fixed(protocol::crc32c(bytes.data(), 12));
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    put(bytes);
    if (type == Type::session) attempt([&] { file_.take_place(); });
}

void Writer::put(std::span<const std::uint8_t> bytes) {
    attempt([&] {
        file_.write(bytes);
        bytes_ += bytes.size();
    });
}

// After a failure it does nothing.
void Writer::attempt(const std::function<void()>& act) {
    if (!failure_.empty()) return;
    try {
        act();
    } catch (const Error& error) {
        failure_ = error.what();
    }
}

}  // namespace nopscope::host::nsc
