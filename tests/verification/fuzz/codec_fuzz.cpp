// SPDX-License-Identifier: Apache-2.0
// Runs format 2's decoder on hostile payloads. With an odd first byte, it encodes arbitrary
// records, and the decoder must return them.
//     described records: kind u8 (bits 0..1 kind, 2..3 how far the clock moves), payload u16, ticks
//     u8. Extended data: bits 4..6 give its size
#include <memory>
#include <utility>
#include <vector>

#include "tests/verification/fuzz/must.hpp"
#include "tracer/protocol/trace_group.hpp"

namespace {

using namespace nopscope::protocol;

struct Stamped {
    Record record;
    std::uint64_t clock;
};

std::vector<Stamped> described(Reader in) {
    std::vector<Stamped> result;
    std::uint64_t clock = 0;
    bool site = false;  // the next data record holds a site
    while (in.left() >= 4) {
        const auto what = in.fixed<std::uint8_t>();
        const auto payload = in.fixed<std::uint16_t>();
        const auto ticks = in.fixed<std::int8_t>();
        const auto moved = static_cast<std::uint64_t>(std::int64_t{ticks})
                           << ((what >> 2 & 3) * 18);
        clock += moved;
        const auto kind = static_cast<Kind>(what & 3);
        const std::uint32_t scaled = payload << ((what >> 4 & 1) * 13);
        if (kind == Kind::extended) {
            const auto extended = static_cast<Extended>(scaled & 15);
            if (extended != Extended::data) {
                site = has_site(extended) || (site && extended < Extended::duration);
            } else {
                clock -= moved;  // it has the clock of its head
                const std::uint64_t data =
                    (payload >> 4) * 0x1000100010001ull >> (what >> 4 & 7) * 8;
                result.push_back({make_data(site ? payload >> 4 : data), clock});
                site = false;
                continue;
            }
        }
        // Most returns are of open calls.
        const auto entry = static_cast<std::uint32_t>(result.size()) - 1 - (payload & 15);
        const bool of_open = kind == Kind::ret && (what & 32) == 0;
        const std::uint32_t value = of_open ? (entry << 1) & ((1u << payload_bits) - 1) : scaled;
        result.push_back({make_record(kind, value, clock), clock});
    }
    return result;
}

void round_trip(Reader in) {
    static auto encoder = std::make_unique<TraceEncoder>();
    static auto decoder = std::make_unique<TraceDecoder>();
    const auto records = described(in);
    encoder->restart();
    Byte payload[max_payload_bytes];
    std::size_t checked = 0;
    for (std::size_t at = 0; at < records.size();) {
        encoder->begin(payload, {.index = at, .clock = at == 0 ? 0 : records[at - 1].clock});
        encoder->fill(records.size() - at, [&](Record& record, std::uint64_t& clock) {
            record = records[at].record;
            clock = records[at++].clock;
            return true;
        });
        const std::size_t size = encoder->end();
        must(size <= max_payload_bytes);
        must(decoder->open(payload, size) == TraceDecoder::Opened::ready);
        must(decoder->read([&](Record record, std::uint64_t clock) {
            must(record.word == records[checked].record.word && clock == records[checked].clock);
            ++checked;
        }));
    }
    must(checked == records.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    if ((data[0] & 1) != 0) {
        round_trip(Reader(data + 1, size - 1));
        return 0;
    }
    static auto decoder = std::make_unique<TraceDecoder>();
    decoder->lose();
    const std::size_t half = (size - 1) / 2;
    const std::pair<const std::uint8_t*, std::size_t> frames[] = {
        {data + 1, half}, {data + 1 + half, size - 1 - half}};
    for (const auto& [from, count] : frames) {
        std::uint32_t records = 0;
        if (decoder->open(from, count) != TraceDecoder::Opened::ready) continue;
        const bool whole = decoder->read([&](Record, std::uint64_t) { ++records; });
        must(whole == (records == decoder->header().count));
    }
    return 0;
}
