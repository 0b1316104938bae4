// SPDX-License-Identifier: Apache-2.0
// Reads the hello of each format that this host knows. Formats 2 and 3 differ only in the hello,
// and format 4 is format 3 of other architectures than the first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "host-tools/image/arch/arch.hpp"
#include "tracer/protocol/hello.hpp"

namespace nopscope::host {

inline constexpr std::uint16_t oldest_format_version = 2;
static_assert(protocol::format_version == 3 && protocol::last_format_version == 4,
              "read_any_hello() and the sentence of refused_version_sentence() name each format");

constexpr bool reads_format(std::uint16_t version) {
    return version >= oldest_format_version && version <= protocol::last_format_version;
}

// False: the hello is of a format or an architecture that this host does not know.
template <typename Fields>
bool is_known(const Fields& hello) {
    return reads_format(hello.version) && find_arch(hello.architecture) != nullptr;
}

// Format 2 (docs/trace-format.md, "Hello of format 2"): all fields have a fixed order. A hello of
// an older target may end before any check of left(). `in` stands after the version. False:
// malformed.
template <typename Fields>
bool read_hello_2(protocol::Reader& in, Fields& hello) {
    const auto varint = [&](auto& number) {
        number = static_cast<std::remove_reference_t<decltype(number)>>(in.varint());
    };
    const auto signed_varint = [&] {
        return static_cast<std::int32_t>(protocol::unzigzag(in.varint()));
    };
    protocol::read_hello_head(in, hello);
    hello.line_bytes_per_second = in.fixed<std::uint32_t>();
    for (auto* const text : {&hello.build_id, &hello.board, &hello.image}) {
        const auto size = in.fixed<std::uint8_t>();
        const protocol::Byte* const bytes = in.bytes(size);
        if (in.ok()) text->assign(bytes, bytes + size);
    }
    if (in.ok() && in.left() != 0) {
        hello.clock = static_cast<protocol::Clock>(in.fixed<std::uint8_t>());
        const auto overheads = in.fixed<std::uint8_t>();
        hello.calibrated = overheads != 0;
        if (hello.calibrated) hello.landing_pad = signed_varint();
        for (std::size_t n = 0; n < overheads && in.ok(); ++n) {
            const std::int32_t inside = signed_varint();
            const std::int32_t outside = signed_varint();
            if (n < hello.overheads.size()) hello.overheads[n] = {inside, outside};
        }
    }
    if (in.ok() && in.left() != 0) {
        auto& costs = hello.event_costs;
        for (auto* const cost :
             {&costs.graph_inside, &costs.graph_outside, &costs.graph_outside_both,
              &costs.profile_inside, &costs.profile_outside}) {
            varint(*cost);
        }
        costs.known = in.ok();
    }
    if (in.ok() && in.left() != 0) {
        auto& sites = hello.refused_sites;
        for (auto* const count : {&sites.misaligned, &sites.outside, &sites.words}) varint(*count);
        sites.known = in.ok();
    }
    if (in.ok() && in.left() != 0) varint(hello.sequences_from);
    return in.ok() && hello.clock_hz != 0 && hello.cores != 0;
}

// False: malformed. If reads_format(hello.version) is false, only `version` is set.
template <typename Fields>
bool read_any_hello(std::span<const std::uint8_t> payload, Fields& hello) {
    protocol::Reader in(payload.data(), payload.size());
    if (in.fixed<std::uint16_t>() != 2)
        return protocol::read_hello(payload.data(), payload.size(), hello);
    hello = {};
    hello.version = 2;
    return read_hello_2(in, hello);
}

}  // namespace nopscope::host
