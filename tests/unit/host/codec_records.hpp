// SPDX-License-Identifier: Apache-2.0
// Records for the tests of the codec, and their way through format 2's encoder and decoder.
#pragma once

#include "host-tools/bench/codec/rounds.hpp"
#include "tests/unit/host/prelude.hpp"

namespace nopscope::host::test {

using Records = std::vector<StampedRecord>;
using Opened = protocol::TraceDecoder::Opened;

struct Payload {
    Bytes bytes;
    std::size_t records;
    std::uint64_t first;
};

// Fills a frame with at most `at_most` records from `at` on, which it moves on.
inline void fill(protocol::TraceEncoder& encoder, const Records& records, std::size_t& at,
                 std::size_t at_most = 1 << 20) {
    encoder.fill(std::min(at_most, records.size() - at), [&](auto& record, auto& clock) {
        record = records[at].record;
        clock = records[at++].clock;
        return true;
    });
}

// Encodes as a pump does: at most `at_most` records a frame. None takes more than its room.
inline std::vector<Payload> encode(const Records& records, std::size_t at_most = 1 << 20,
                                   std::uint64_t first_index = 0) {
    auto encoder = std::make_unique<protocol::TraceEncoder>();
    std::vector<Payload> result;
    std::size_t at = 0;
    while (at < records.size()) {
        Bytes payload(protocol::max_payload_bytes + 256, 0xaa);
        const std::uint64_t first = first_index + at;
        const std::uint64_t clock = records[at == 0 ? 0 : at - 1].clock;
        encoder->begin(payload.data(), {.index = first, .clock = clock, .dropped = 3 * at});
        fill(*encoder, records, at, at_most);
        const std::size_t size = encoder->end();
        EXPECT_LE(size, protocol::max_payload_bytes);
        EXPECT_TRUE(std::all_of(payload.begin() + protocol::max_payload_bytes, payload.end(),
                                [](std::uint8_t byte) { return byte == 0xaa; }));
        EXPECT_EQ(encoder->next_index(), first_index + at);
        payload.resize(size);
        result.push_back({payload, static_cast<std::size_t>(first_index + at - first), first});
    }
    return result;
}

inline bool decode(protocol::TraceDecoder& decoder, const Payload& payload, Records& to) {
    const auto keep = [&](protocol::Record record, std::uint64_t clock) {
        to.push_back({record, clock});
    };
    return decoder.open(payload.bytes.data(), payload.bytes.size()) == Opened::ready &&
           decoder.read(keep);
}

inline void expect_same(const Records& decoded, const Records& expected) {
    ASSERT_EQ(decoded.size(), expected.size());
    for (std::size_t i = 0; i < decoded.size(); ++i) {
        ASSERT_EQ(decoded[i].record.word, expected[i].record.word) << i;
        ASSERT_EQ(decoded[i].clock, expected[i].clock) << i;
    }
}

inline void expect_exact(const Records& records, std::size_t at_most = 1 << 20,
                         std::uint64_t first = 0) {
    auto decoder = std::make_unique<protocol::TraceDecoder>();
    Records decoded;
    for (const Payload& payload : encode(records, at_most, first)) {
        ASSERT_TRUE(decode(*decoder, payload, decoded));
        ASSERT_EQ(decoder->next_index(), payload.first + payload.records);
        ASSERT_EQ(decoder->dropped(), 3 * (payload.first - first));
    }
    expect_same(decoded, records);
}

inline StampedRecord stamped(Kind kind, std::uint32_t payload, std::uint64_t clock) {
    return {protocol::make_record(kind, payload, clock), clock};
}

inline StampedRecord stamped(protocol::Extended what, std::uint32_t argument, std::uint64_t clock) {
    return stamped(Kind::extended, argument << 4 | static_cast<std::uint32_t>(what), clock);
}

// The header of a key frame of this many records.
inline Bytes key_frame(std::uint8_t records) {
    return {1, records, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
}

// Adds a record and its data. If the kind has a site, the site comes first.
inline void add_with_data(Records& to, protocol::Extended what, std::uint32_t argument,
                          std::uint64_t clock, std::initializer_list<std::uint64_t> data) {
    to.push_back(stamped(what, argument, clock));
    for (const std::uint64_t each : data) to.push_back({protocol::make_data(each), clock});
}

// Arbitrary records: kinds, payloads and clocks that no program makes.
inline Records anything(unsigned seed, std::size_t count) {
    std::mt19937_64 random(seed);
    Records result;
    std::uint64_t clock = random();
    for (std::size_t i = 0; i < count; ++i) {
        clock += random() >> (random() % 64);
        if (random() % 4 == 0) clock -= random() >> (random() % 64);
        const auto payload = static_cast<std::uint32_t>(random() >> (35 + random() % 29));
        if (const auto kind = static_cast<Kind>(random() % 4); kind != Kind::extended) {
            result.push_back(stamped(kind, payload, clock));
            continue;
        }
        const auto what = static_cast<protocol::Extended>(random() % 15);  // any kind except data
        const auto value = [&] { return random() >> (random() % 64); };
        add_with_data(result, what, payload >> 4, clock, {});
        if (what < protocol::Extended::duration) continue;
        result.push_back(
            {protocol::make_data(protocol::has_site(what) ? payload : value()), clock});
        for (auto data = random() % 4; data > 0; --data)
            result.push_back({protocol::make_data(value()), clock});
        result.push_back({protocol::make_sync(clock), clock});
    }
    return result;
}

// A simulated program: each function calls others in its own order, with random loops and branches,
// on a noisy clock.
class CallTrace {
public:
    CallTrace(unsigned seed, unsigned functions, double noise_ticks)
        : random_(seed), noise_(0, noise_ticks) {
        for (unsigned i = 0; i < functions; ++i) {
            Function function;
            function.ticks = 1 + random_() % 20;
            // Later functions are leaves.
            for (unsigned calls = random_() % 5; calls > 0 && i + 1 < functions; --calls) {
                const auto callee =
                    static_cast<std::uint32_t>(i + 1 + random_() % (functions - i - 1));
                function.steps.push_back({callee, 1 + random_() % 3, random_() % 8 == 0});
            }
            functions_.push_back(function);
        }
    }

    // Returns `count` records of calls of the first function, from record 0 on.
    Records records(std::size_t count) {
        Records result;
        while (result.size() < count) call(0, 0, result, count);
        return result;
    }

private:
    struct Step {
        std::uint32_t callee;
        std::size_t times;
        bool maybe;
    };
    struct Function {
        unsigned ticks = 1;
        std::vector<Step> steps;
    };

    void call(std::uint32_t id, unsigned depth, Records& to, std::size_t enough) {
        const auto entry = static_cast<std::uint32_t>(to.size());
        add(Kind::entry, id * 5 + 77, functions_[id].ticks, to);
        for (const Step& step : functions_[id].steps) {
            if (depth == 40) break;
            if (step.maybe && random_() % 2 == 0) continue;
            for (std::size_t i = 0; i < step.times && to.size() < enough; ++i)
                call(step.callee, depth + 1, to, enough);
        }
        add(Kind::ret, entry << 1, functions_[id].ticks, to);
    }
    void add(Kind kind, std::uint32_t payload, unsigned ticks, Records& to) {
        time_ += ticks + std::max(-0.5, noise_(random_));
        const auto clock = static_cast<std::uint64_t>(time_ / 2.5);
        to.push_back({protocol::make_record(kind, payload, clock), clock});
    }

    std::mt19937 random_;
    std::normal_distribution<double> noise_;
    std::vector<Function> functions_;
    double time_ = 1e12;
};

}  // namespace nopscope::host::test
