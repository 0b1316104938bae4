// SPDX-License-Identifier: Apache-2.0
// What programs and devices do to a line's bytes, and what the host says of it.
#include "host-tools/line/stream/damage.hpp"
#include "tests/unit/host/target_stream.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::damage_test {

using Map = std::function<void(std::uint8_t byte, Bytes& out)>;

Bytes mapped(const Bytes& line, const Map& map) {
    Bytes out;
    for (const std::uint8_t byte : line) map(byte, out);
    return out;
}
Map translate(std::uint8_t from, std::initializer_list<std::uint8_t> to) {
    return [=, to = Bytes(to)](std::uint8_t byte, Bytes& out) {
        if (byte != from) return out.push_back(byte);
        out.insert(out.end(), to.begin(), to.end());
    };
}
Map without(std::string bytes) {
    return [=](std::uint8_t byte, Bytes& out) {
        if (bytes.find(static_cast<char>(byte)) == std::string::npos) out.push_back(byte);
    };
}
Map each(std::uint8_t (*of)(std::uint8_t)) {
    return [=](std::uint8_t byte, Bytes& out) { out.push_back(of(byte)); };
}
// `change` gets each byte's offset.
Map by_place(std::function<void(std::size_t at, std::uint8_t byte, Bytes& out)> change) {
    return [=, at = std::size_t{0}](std::uint8_t byte, Bytes& out) mutable {
        change(at++, byte, out);
    };
}
std::uint8_t even(std::uint8_t byte) {
    const unsigned low = byte & 0x7f;
    return static_cast<std::uint8_t>(low | (std::popcount(low) & 1) << 7);
}

// Frames of many sizes.
Bytes target_line(unsigned frames) {
    TargetStream target;
    std::mt19937 numbers(1);
    const auto random = [&] { return static_cast<unsigned>(numbers()); };
    for (unsigned n = 0; n < frames; ++n) {
        target.records_per_frame = 5 + random() % 40;
        if (n % 20 == 0) target.hello();
        for (unsigned k = 0; k < target.records_per_frame / 2; ++k)
            target.ret(target.entry(random() % 90, 40 + random() % 900), 100 + random() % 5000);
        target.flush();
    }
    return target.bytes;
}

std::string said_of(const Bytes& line, const std::string& others = {}) {
    DamagedChunks damaged;
    SessionReader reader(damaged);
    reader.feed(line);
    reader.finish();
    if (reader.counters().sessions != 0)
        return damaged.sentence(reader.line(), reader.counters(), others);
    // The first bytes tell.
    return change_of(std::span(line).first(std::min<std::size_t>(line.size(), 1 << 14))).sentence();
}

TEST(Damage, IsNamedFromTheBytes) {
    const std::string no_eighth = "all bytes are below 0x80, so bit 7 is lost";
    struct Row {
        const char* name;
        Map map;
        std::string said;
    } const rows[] = {
        {"icrnl", translate('\r', {'\n'}), "CR (0x0d) came as LF (0x0a)"},
        {"inlcr", translate('\n', {'\r'}), "LF (0x0a) came as CR (0x0d)"},
        {"onlcr", translate('\n', {'\r', '\n'}), "LF (0x0a) came as CR LF"},
        {"socat crnl", translate('\r', {'\r', '\n'}), "CR (0x0d) came as CR LF"},
        {"igncr", without("\r"), "CR (0x0d) is missing"},
        {"telnet",
         [](std::uint8_t byte, Bytes& out) {
             out.push_back(byte);
             if (byte == 0xff || byte == '\r') out.push_back(byte == 0xff ? 0xff : 0);
         },
         "telnet server"},
        {"telnet, binary", translate(0xff, {0xff, 0xff}), "telnet server"},
        {"telnet, CR", translate('\r', {'\r', 0}), "telnet server"},
        {"ixon", without("\x11\x13"), "XON and XOFF (0x11, 0x13) are missing"},
        {"ixoff", by_place([](std::size_t at, std::uint8_t byte, Bytes& out) {
             out.push_back(byte);
             if (at % 300 == 299) out.push_back(at % 600 == 599 ? 0x11 : 0x13);
         }),
         "XON or XOFF (0x11, 0x13) came that were not sent"},
        {"isig", without("\x03\x1a\x1c"), "control characters are missing"},
        {"istrip", each([](std::uint8_t byte) { return static_cast<std::uint8_t>(byte & 0x7f); }),
         no_eighth},
        {"7E1", each(even), "bit 7 of all bytes is the parity"},
        {"UTF-8",
         [](std::uint8_t byte, Bytes& out) {
             if (byte >= 0x80) out.push_back(static_cast<std::uint8_t>(0xc0 | byte >> 6));
             out.push_back(byte < 0x80 ? byte : static_cast<std::uint8_t>(0x80 | (byte & 0x3f)));
         },
         "came as UTF-8"},
        {"U+FFFD",
         [](std::uint8_t byte, Bytes& out) {
             if (byte < 0x80) return out.push_back(byte);
             out.insert(out.end(), {0xef, 0xbf, 0xbd});
         },
         "came as U+FFFD"},
        {"no zeros", without(std::string(1, '\0')), "no byte is zero"},
        {"a second reader", by_place([](std::size_t at, std::uint8_t byte, Bytes& out) {
             if (at / 700 % 3 != 2) out.push_back(byte);
         }),
         "bytes were lost or changed on the way"},
        {"noise", by_place([](std::size_t at, std::uint8_t byte, Bytes& out) {
             out.push_back(static_cast<std::uint8_t>(at % 900 == 899 ? byte ^ 0x40 : byte));
         }),
         "bytes were lost or changed on the way"},
    };
    for (const unsigned frames : {60u, 600u}) {
        const Bytes line = target_line(frames);
        EXPECT_EQ(said_of(line), "");
        for (const Row& row : rows) {
            EXPECT_THAT(said_of(mapped(line, row.map)), HasSubstr(row.said))
                << row.name << " " << frames;
        }
    }
}

TEST(Damage, OfSeveralKindsIsNamedWithAll) {
    Bytes line = mapped(target_line(600), translate('\r', {'\n'}));
    line = mapped(line, without("\x11\x13\x03\x1a\x1c"));
    EXPECT_THAT(said_of(line), AllOf(HasSubstr("CR (0x0d) came as LF"), HasSubstr("XON")));
}

TEST(Damage, IsNotClaimedOfNoiseAndOfText) {
    std::mt19937 random(1);
    Bytes noise(100'000), text;
    for (auto& byte : noise) byte = static_cast<std::uint8_t>(random());
    while (text.size() < 20'000)
        text.push_back(static_cast<std::uint8_t>("panic at 0x40081234\r\n"[text.size() % 21]));
    text[500] = 0x02;
    EXPECT_EQ(change_of(noise).what, "");
    EXPECT_EQ(change_of(std::span(text).first(1500)).what, "");
}

TEST(Damage, NamesAnotherReaderAndTextBetweenFrames) {
    Bytes line = target_line(60);
    line.erase(line.begin() + 1000, line.begin() + 2000);
    EXPECT_THAT(said_of(line, "cat (4711)"), HasSubstr("cat (4711) has the port open, too"));
    line = target_line(5);
    for (const char c : std::string("hello, world\r\n"))
        line.push_back(static_cast<std::uint8_t>(c));
    line.push_back(0);
    EXPECT_THAT(said_of(line), HasSubstr("1 of 7 frames are damaged: they are text"));
}

}  // namespace nopscope::host::test::damage_test
