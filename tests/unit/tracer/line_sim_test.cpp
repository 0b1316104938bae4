// SPDX-License-Identifier: Apache-2.0
// Hours between a target and its host, on a line that loses, flips and repeats bytes. Whatever the
// damage: each delivered record is one that the target made, and comes once; the count of missing
// records is exact; and the reader recovers within a key frame after the damage ends.
#include "host-tools/line/stream/session.hpp"
#include "tests/unit/tracer/pump_fixture.hpp"

namespace nopscope::line_sim_test {

using namespace host;

constexpr std::uint32_t line_rate = 4000;  // bytes a second
constexpr unsigned core_count = 2;
constexpr std::uint64_t seconds = 3600;
constexpr std::uint64_t pumps_per_second = 25;
constexpr std::uint32_t text_base = 0x1000;

// Damages each byte with a probability of `rate`.
struct BadLine {
    BadLine(double rate, unsigned seed) : hit_(rate), random_(seed) {}

    std::vector<std::uint8_t> carry(const std::vector<std::uint8_t>& bytes) {
        std::vector<std::uint8_t> out;
        for (const std::uint8_t byte : bytes) {
            if (burst_ != 0) {
                --burst_;
                if (random_() % 2 == 0) out.push_back(static_cast<std::uint8_t>(random_()));
                continue;
            }
            if (!hit_(random_)) {
                out.push_back(byte);
                continue;
            }
            ++hits;
            switch (random_() % 16) {
            case 0: burst_ = random_() % 3000; break;
            case 1:
            case 2: {  // those before it come again
                const std::size_t count = std::min<std::size_t>(out.size(), random_() % 4000);
                out.push_back(byte);
                for (std::size_t at = out.size() - 1 - count, n = 0; n < count; ++n)
                    out.push_back(out[at + n]);
                break;
            }
            case 3: break;  // lost
            case 4:
            case 5:
            case 6: out.push_back(0); [[fallthrough]];
            default: out.push_back(byte ^ static_cast<std::uint8_t>(1u << random_() % 8));
            }
        }
        return out;
    }
    void heal() { burst_ = 0, hit_ = std::bernoulli_distribution(0); }
    void hurt(double rate) { hit_ = std::bernoulli_distribution(rate); }
    std::uint64_t hits = 0;

private:
    std::bernoulli_distribution hit_;
    std::mt19937 random_;
    std::uint64_t burst_ = 0;
};

struct Truth {
    std::uint64_t index = ~std::uint64_t{0}, word = 0, clock = 0;
};
constexpr std::uint64_t kept = std::uint64_t{1} << 17;

struct Checked : SessionSink {
    void on_trace(unsigned core, const TraceBatch& batch) override {
        Of& of = cores[core];
        std::uint64_t index = batch.first_index;
        wrong += index < of.next;  // delivered twice
        wrong += (index != of.next) != batch.gap;
        for (const protocol::StampedRecord& record : batch.records) {
            const Truth& truth = of.truth[index % kept];
            wrong += truth.index != index || truth.word != record.record.word ||
                     truth.clock != record.clock;
            ++index;
        }
        of.next = index;
        of.delivered += batch.records.size();
        of.gaps += batch.gap;
        ++of.batches;
    }
    void on_missing(unsigned, const MissingPart& part) override {
        lost += part.lost;
        dropped += part.dropped;
        wrong += part.to < part.from;
    }
    void on_stats(unsigned, const protocol::Stats& stats) override {
        wrong += stats.generated != stats.delivered + stats.dropped + stats.overwritten +
                                        stats.aggregated + stats.filtered;
    }

    struct Of {
        std::vector<Truth> truth = std::vector<Truth>(kept);
        std::uint64_t next = 0, delivered = 0, gaps = 0, batches = 0;
    };
    Of cores[core_count];
    std::uint64_t wrong = 0, lost = 0, dropped = 0;
};

struct LineSim : testing::PumpTest, ::testing::WithParamInterface<double> {
    LineSim() : PumpTest(core_count) {
        hello.cores = core_count;
        open(Mode::stream, line_rate);
    }

    void note(unsigned number) {
        for (std::uint64_t& at = noted[number]; at < cores[number].cursor; at += record_bytes) {
            protocol::Record record = *ring_peek(cores[number], at);
            if (record.kind() == protocol::Kind::entry || record.kind() == protocol::Kind::call) {
                record = protocol::make_record(record.kind(), (record.site_low() - text_base) >> 3,
                                               record.clock_low());
            }
            const std::uint64_t clock =
                machine.now - static_cast<std::uint32_t>(static_cast<std::uint32_t>(machine.now) -
                                                         record.clock_low());
            const std::uint64_t index = record_index(at);
            sink.cores[number].truth[index % kept] = {index, record.word, clock};
        }
    }
    // Simulates a program: nested calls of functions that tend to call the same functions again.
    void work(unsigned number, unsigned steps) {
        machine.current = number;
        Core& core = here();
        for (unsigned i = 0; i < steps; ++i) {
            machine.now += 5 + random() % 40;
            const std::uint64_t sp = top_frame(core)->sp;
            const bool deep = sp < stack_high - 20 * 16;
            if (sp < stack_high && (deep || random() % 100 < 49)) {
                leave();
            } else {
                enter(text_base + 8 * (static_cast<std::uint32_t>(stack_high - sp) + random() % 3),
                      sp - 16);
            }
        }
        note(number);
        machine.current = 0;
    }
    void note_all() {
        for (unsigned number = 0; number < core_count; ++number) note(number);
    }
    void deliver() { reader.feed(line.carry(std::exchange(testing::line_bytes, {}))); }
    void run_until(std::uint64_t end) {
        while (machine.now < end) step();
    }
    void finish() {
        pump.finish();
        note_all();
        deliver();
        expect_exact(true);
    }
    void step() {
        const std::uint64_t end = machine.now + hz / pumps_per_second;
        // Sometimes more than the line carries: the ring fills, and drops records.
        const unsigned much = random() % 500 == 0 ? 40 : 1;
        for (unsigned number = 0; number < core_count; ++number)
            work(number, much * (random() % 28));
        if (machine.now < end) machine.now = end;
        pump.run();
        note_all();
        deliver();
    }
    void expect_exact(bool final) {
        for (unsigned number = 0; number < core_count; ++number) {
            const StreamCounters counters = reader.counters_of(number);
            const Checked::Of& of = sink.cores[number];
            EXPECT_EQ(counters.generated, counters.delivered + counters.dropped + counters.lost);
            EXPECT_EQ(counters.delivered, of.delivered);
            if (!final) continue;
            EXPECT_EQ(counters.generated,
                      record_index(cores[number].cursor) + cores[number].dropped);
            EXPECT_EQ(counters.dropped, cores[number].dropped);
            EXPECT_EQ(counters.lost, record_index(cores[number].cursor) - of.delivered);
        }
        EXPECT_EQ(sink.wrong, 0u);
    }

    std::mt19937 random{42};
    BadLine line{GetParam(), 43};
    Checked sink;
    SessionReader reader{sink};
    std::uint64_t noted[core_count] = {ring_bytes, ring_bytes};
};

TEST_P(LineSim, AnHour) {
    run_until(seconds * hz);
    expect_exact(false);
    line.heal();
    run_until((seconds + 10) * hz);
    finish();
    const StreamCounters before = reader.counters();
    reader.finish();
    const StreamCounters after = reader.counters();
    EXPECT_EQ(after.generated, before.generated);
    EXPECT_EQ(after.inconsistent, 0u);
    EXPECT_EQ(after.malformed_frames, 0u) << "a bad frame got past the CRC";
    EXPECT_EQ(sink.lost, after.lost);
    EXPECT_EQ(sink.dropped, after.dropped);
    EXPECT_GT(after.generated, 2'000'000u);
    EXPECT_GT(after.dropped, 0u);
    EXPECT_EQ(after.lost != 0, line.hits > 100);
}

// A key frame comes every 2 s or 64 KiB. So 2 s and a frame after the damage there are no gaps.
TEST_P(LineSim, IsReadAgainWithinAKeyFrame) {
    for (int round = 0; round < 40; ++round) {
        line.hurt(1e-2);
        run_until(machine.now + hz * (1 + random() % 8));
        line.heal();
        // A repeated piece may push bytes out of a frame, until the current frame ends.
        run_until(machine.now + 2 * hz + hz * protocol::max_encoded_bytes * 2 / line_rate);
        std::uint64_t gaps[core_count], batches[core_count];
        for (unsigned n = 0; n < core_count; ++n) {
            std::tie(gaps[n], batches[n]) = std::pair(sink.cores[n].gaps, sink.cores[n].batches);
            EXPECT_GE(cores[n].tail, ring_bytes + sink.cores[n].next * record_bytes);
        }
        run_until(machine.now + 2 * hz);
        for (unsigned n = 0; n < core_count; ++n) {
            ASSERT_EQ(sink.cores[n].gaps, gaps[n]) << round;
            ASSERT_GT(sink.cores[n].batches, batches[n]) << round;
        }
    }
    finish();
    EXPECT_GT(sink.cores[0].gaps, 10u);
}

INSTANTIATE_TEST_SUITE_P(Rates, LineSim, ::testing::Values(0.0, 1e-5, 1e-4, 1e-3));

}  // namespace nopscope::line_sim_test
