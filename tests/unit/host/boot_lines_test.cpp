// SPDX-License-Identifier: Apache-2.0
// The lines that a board prints first: undamaged, damaged and hostile.
#include "host-tools/target/stream/boot_lines.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::boot_lines_test {

using testing::Eq;
using testing::Optional;

constexpr std::string_view first = "boot: nopscope board=rpi4 level=2 dtb=none\r\n";

std::span<const std::uint8_t> bytes_of(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
BootLines read(std::string_view text, bool alone = false) {
    BootLines lines;
    for (auto rest = bytes_of(text); !rest.empty();) rest = rest.subspan(lines.feed(rest, alone));
    return lines;
}
// The rate that these lines announce behind the first one.
auto baud_behind(const std::string& text) { return read(std::string(first) + text).take_baud(); }

TEST(Boot, WordsAndNumbers) {
    BootLines lines = read(std::string(first) +
                           "boot: midr=0x410fd083 counter_hz=54000000\nboot: baud=3000000\r\n");
    EXPECT_EQ(lines.words().text("board"), "rpi4");
    EXPECT_EQ(lines.words().text("dtb"), "none");
    EXPECT_THAT(lines.words().number("midr"), Optional(Eq(0x410fd083u)));
    EXPECT_THAT(lines.words().number("counter_hz"), Optional(Eq(54000000u)));
    EXPECT_EQ(lines.words().number("dtb"), std::nullopt);
    EXPECT_EQ(lines.words().number("arm_hz"), std::nullopt);
    EXPECT_THAT(lines.take_baud(), Optional(Eq(3000000u)));
    EXPECT_EQ(lines.take_baud(), std::nullopt) << "once";
}

TEST(Boot, InPiecesOfAnySize) {
    const std::string text = std::string(first) + "boot: gic=2\nboot: baud=1000000\n";
    for (std::size_t size = 1; size < text.size(); ++size) {
        BootLines lines;
        for (std::size_t at = 0; at < text.size(); at += size)
            lines.feed(bytes_of(std::string_view(text).substr(at, size)), false);
        ASSERT_THAT(lines.take_baud(), Optional(Eq(1000000u))) << size;
        ASSERT_THAT(lines.words().number("gic"), Optional(Eq(2u))) << size;
    }
}

TEST(Boot, BehindAnotherBootOrAFrameThatAResetHasCut) {
    const BootLines second = read(std::string(first) + "boot: gic=2\n" + std::string(first));
    EXPECT_FALSE(second.words().has("gic"));
    const std::string cut = std::string("\x12\xff\x80 boot: ") + std::string(1000, '\x55');
    BootLines lines = read(cut + std::string(first) + "boot: baud=2000000\n");
    EXPECT_EQ(lines.words().text("board"), "rpi4");
    EXPECT_THAT(lines.take_baud(), Optional(Eq(2000000u)));
}

TEST(Boot, AnAnnouncementCountsBehindABootLineOnly) {
    const auto baud = [](std::string_view text, bool alone = false) {
        return read(text, alone).take_baud();
    };
    EXPECT_EQ(baud("boot: baud=9600\n"), std::nullopt);
    EXPECT_THAT(baud("boot: baud=9600\n", true), Optional(Eq(9600u)));
    EXPECT_EQ(baud_behind("hello\nboot: baud=9600\n"), std::nullopt);
    EXPECT_EQ(baud_behind(std::string(1, '\0') + "boot: baud=9600\n"), std::nullopt)
        << "frames have begun";
    EXPECT_EQ(baud(std::string(first) + "x boot: baud=9600\n", true), std::nullopt);
}

TEST(Boot, InvalidRatesAreIgnored) {
    for (const char* const value :
         {"0", "-1", "12x", "", "0x", "99999999999999999999999", "100000001", "299"})
        EXPECT_EQ(baud_behind(std::string("boot: baud=") + value + "\n"), std::nullopt) << value;
    EXPECT_EQ(baud_behind("boot: baud=3000000"), std::nullopt) << "no end";
}

TEST(Boot, LongLinesBinaryAndManyWordsTakeNoMemory) {
    EXPECT_EQ(baud_behind("boot: baud=9600 " + std::string(5000, 'x') + "\n"), std::nullopt);
    BootLines endless =
        read("boot: nopscope board=" + std::string(5000, 'x') + "\nboot: baud=9600\n");
    EXPECT_EQ(endless.take_baud(), std::nullopt);
    EXPECT_TRUE(endless.words().empty());
    EXPECT_EQ(baud_behind("boot: baud=9600\x1b[2J\n"), std::nullopt);
    BootLines many;
    many.feed(bytes_of(first), false);
    for (int n = 0; n < 10000; ++n)
        many.feed(bytes_of("boot: key" + std::to_string(n) + "=1\n"), false);
    EXPECT_TRUE(many.words().has("key9"));
    EXPECT_FALSE(many.words().has("key9999"));
    std::mt19937 random(1);
    BootLines noise;
    std::string bytes(1'000'000, ' ');
    for (char& c : bytes) c = static_cast<char>(random());
    noise.feed(bytes_of(bytes), true);
    EXPECT_EQ(noise.take_baud(), std::nullopt);
    EXPECT_TRUE(noise.words().empty());
}

}  // namespace nopscope::host::test::boot_lines_test
