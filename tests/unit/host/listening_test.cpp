// SPDX-License-Identifier: Apache-2.0
// A line with a wrong rate: what the host says of it, and which rate it finds. The wire is
// simulated bit by bit.
#include "host-tools/live/listening.hpp"
#include "host-tools/line/stream/baud.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::listening_test {

Bytes random_bytes(std::size_t count) {
    std::mt19937 random(1);
    Bytes bytes(count);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    return bytes;
}
Bytes text(std::size_t count) {
    constexpr std::string_view line =
        "core 0: round 17 of 100, largest 995, (strings) The Quick Brown Fox\r\n";
    Bytes bytes;
    while (bytes.size() < count)
        bytes.push_back(static_cast<std::uint8_t>(line[bytes.size() % line.size()]));
    return bytes;
}
Bytes target_frames() {
    test::TargetStream target;
    target.records_per_frame = 20;
    target.hello();
    for (std::uint32_t n = 0; n < 300; ++n)
        target.ret(target.entry(n * 7 % 90, 40 + n % 900), 100 + n * n % 5000);
    target.flush();
    return target.bytes;
}

// The rates that likely_bauds() finds for `sent`, over a pair of clocks that differ slightly.
std::vector<std::uint32_t> heard_as(const Bytes& sent, double sent_baud,
                                    std::uint32_t received_baud, Resync resync) {
    return likely_bauds(test::received(sent, sent_baud, received_baud, resync), received_baud);
}

TEST(LikelyBauds, NameTheRateOfASlowerSender) {
    const std::pair<std::uint32_t, std::vector<std::uint32_t>> rates[] = {
        {9600, {19200, 57600}},      {38400, {115200}},
        {57600, {115200}},           {115200, {230400, 460800, 921600}},
        {230400, {921600, 1500000}}, {460800, {921600}},
        {921600, {3000000}},         {1000000, {3000000}},
        {1500000, {3000000}}};
    for (const auto& [sent, all] : rates) {
        for (const std::uint32_t received : all) {
            for (const Bytes& bytes : {random_bytes(1200), text(1200), target_frames()}) {
                for (const Resync resync : {Resync::at_edge, Resync::at_stop_bit})
                    EXPECT_THAT(heard_as(bytes, sent, received, resync), Contains(sent))
                        << received;
            }
        }
    }
}

TEST(LikelyBauds, NeverNameAWrongRate) {
    std::size_t named = 0, all = 0;
    const Bytes random = random_bytes(500), frames = target_frames();
    for (const std::uint32_t sent : {115200u, 500000u, 921600u, 1500000u}) {
        for (const std::uint32_t received : {115200u, 1000000u, 3000000u}) {
            if (sent == received) continue;
            for (const double clock : {0.99, 1.01}) {
                for (const Bytes& bytes : {random, frames}) {
                    const auto likely = heard_as(bytes, sent * clock, received, Resync::at_edge);
                    ++all;
                    named += likely.size();
                    if (!likely.empty())
                        EXPECT_THAT(likely, Contains(sent)) << received << " " << clock;
                    EXPECT_LE(likely.size(), 2u);
                }
            }
        }
    }
    EXPECT_GT(named, all / 5);
}

TEST(LikelyBauds, SayNothingOfNoiseTextAtItsOwnRateOrFewBytes) {
    EXPECT_THAT(likely_bauds(random_bytes(8000), 115200), IsEmpty());
    EXPECT_THAT(likely_bauds(text(8000), 115200), IsEmpty());
    EXPECT_THAT(likely_bauds(target_frames(), 1500000), IsEmpty());
    EXPECT_THAT(likely_bauds(Bytes(8000, 0), 115200), IsEmpty());
    EXPECT_THAT(heard_as(random_bytes(50), 57600, 115200, Resync::at_edge), IsEmpty());
}

// Sends the same bytes again and again at its own rate.
class Port final : public Source {
public:
    Port(std::uint32_t sent_baud, std::uint32_t baud, Bytes sent)
        : sent_baud_(sent_baud), sent_(std::move(sent)) {
        Port::set_baud(baud);
    }
    Result read(std::span<std::uint8_t> to, std::chrono::milliseconds /*timeout*/) override {
        const std::size_t count = std::min<std::size_t>({to.size(), 512, heard_.size() - at_});
        std::copy_n(heard_.begin() + static_cast<long>(at_), count, to.begin());
        at_ = at_ + count == heard_.size() ? 0 : at_ + count;
        return {count, false};
    }
    void set_baud(std::uint32_t baud) override {
        if (baud > 3'000'000) throw Error("no such rate");
        baud_ = baud;
        at_ = 0;
        heard_ = test::received(sent_, sent_baud_, baud, Resync::at_edge);
    }
    std::uint32_t baud() const override { return baud_; }

private:
    std::uint32_t sent_baud_;
    Bytes sent_;
    std::uint32_t baud_ = 0;
    Bytes heard_;
    std::size_t at_ = 0;
};

class Wrong : public testing::Test {
protected:
    // Reads until the diagnosis says something. The clock is simulated.
    std::string said(LineReader& line, int turns = 4000) {
        for (int n = 0; n < turns; ++n) {
            line.wait(0ms);
            line.take(now += 10ms);
            if (const auto sentence = line.complaint(now)) return *sentence;
        }
        return {};
    }
    test::Told told;
    LineReader::Clock::time_point now = LineReader::Clock::now();
};

TEST_F(Wrong, AHigherRateIsFoundByListening) {
    Port port(1500000, 115200, target_frames());
    LineReader line(port, told);
    const auto begin = now;
    EXPECT_THAT(said(line), HasSubstr("not one frame"));
    EXPECT_LE(now - begin, 3s);
    EXPECT_EQ(said(line), "frames come at 1500000 baud, and not at 115200: give ?baud=1500000");
    EXPECT_EQ(port.baud(), 115200u) << "it goes back";
    EXPECT_EQ(said(line, 400), "") << "once";
}

TEST_F(Wrong, ALowerRateIsNamedAtOnceAndTheRightOneIsNot) {
    Port slower(115200, 921600, target_frames()), right(115200, 115200, target_frames());
    LineReader line(slower, told), its_line(right, told);
    EXPECT_THAT(said(line), HasSubstr("sent at 115200 baud: give ?baud=115200"));
    EXPECT_EQ(said(its_line), "");
}

TEST_F(Wrong, NoRateIsRight) {
    Port port(115200, 115200, random_bytes(4096));
    LineReader line(port, told);
    EXPECT_THAT(said(line), HasSubstr("is ?baud=115200 the rate of the target's UART?"));
    EXPECT_THAT(said(line), HasSubstr("no frame at 115200 baud or another common rate"));
    EXPECT_EQ(port.baud(), 115200u);
}

TEST(Diagnoses, SayWhatCameAndWhatToDo) {
    const auto said = [](const Bytes& bytes, LineCounters line, std::uint16_t version = 0) {
        line.bytes = bytes.size();
        StreamCounters stream;
        stream.refused_version = version;
        return diagnose({.bytes = bytes,
                         .line = line,
                         .stream = stream,
                         .baud = 0,
                         .seconds = 3,
                         .changed = {}})
            .sentence();
    };
    EXPECT_EQ(said({}, {}), "no byte came in 3.0 s: is the target on, and is this its line?");
    EXPECT_THAT(said(Bytes(3, 0), {.stray_zeros = 3}), HasSubstr("3 bytes came, and all are zero"));
    EXPECT_THAT(said(text(200), {}),
                HasSubstr("200 bytes of text came, and not one frame: does this firmware"));
    EXPECT_THAT(said(random_bytes(300), {}),
                HasSubstr("300 bytes came, and not one frame among them"));
    EXPECT_THAT(said(random_bytes(300), {.frames = 2}),
                HasSubstr("2 frames came, and no hello among them"));
    EXPECT_THAT(said(random_bytes(300), {.frames = 2}, 77), HasSubstr("speaks trace format 77"));
}

}  // namespace nopscope::host::test::listening_test
