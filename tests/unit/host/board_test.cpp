// SPDX-License-Identifier: Apache-2.0
// A board's boot lines, undamaged, damaged and hostile. What doctor says of them: each judgement,
// and no finding for a healthy board.
#include "host-tools/line/doctor/board.hpp"
#include "host-tools/line/stream/boot_lines.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::board_test {

constexpr char rpi4[] =
    "boot: board=rpi4 level=2 dtb=0x2eff3a00 midr=0x410fd083 revidr=0x0 mpidr=0x80000000 "
    "ctr=0x84448004 erg=16 counter_hz=54000000 arm_hz=1500000000 core_hz=500000000 "
    "uart_hz=64000000 gic=2 view=non-secure priority_bits=5 baud=3000000";

BootWords board_of(const std::string& words) {
    BootWords board;
    board.take("boot: " + words);
    return board;
}
// The boot lines of a healthy Raspberry Pi 4, with these words added or replaced.
Findings with(const std::string& words) {
    BootWords board;
    EXPECT_TRUE(board.take(rpi4));
    EXPECT_TRUE(board.take("boot: " + words));
    return judge_board(board);
}
const Finding* find(const Findings& findings, const std::string& what) {
    for (const Finding& one : findings) {
        if (one.what == what) return &one;
    }
    return nullptr;
}
// The findings that are not good.
Findings unusual(const std::string& words) {
    Findings rest;
    for (const Finding& one : with(words)) {
        if (one.state != Finding::good) rest.push_back(one);
    }
    return rest;
}

TEST(Board, AHealthyBoardInPlainWords) {
    const Findings found = with("");
    EXPECT_EQ(unusual("").size(), 0u);
    EXPECT_EQ(find(found, "board")->text, "rpi4, entered at EL2, with a device tree");
    EXPECT_EQ(find(found, "CPU")->text,
              "Cortex-A72 r0p3, cache lines of 64 bytes (code) and 64 (data)");
    EXPECT_EQ(find(found, "clocks")->text,
              "counter 54 MHz, Arm cores 1500 MHz, VideoCore 500 MHz, UART 64 MHz");
    EXPECT_EQ(find(found, "interrupts")->text, "GICv2, non-secure view, 5 priority bits");
    EXPECT_EQ(find(found, "rate")->text, "3,000,000 baud after these lines");
}

// As the documents describe it: we have not seen such a board.
TEST(Board, TheRaspberryPi5NumbersItsCoresInAff1) {
    BootWords board;
    EXPECT_TRUE(board.take(
        "boot: board=rpi5 level=2 dtb=0x2eff3a00 midr=0x414fd0b1 revidr=0x0 mpidr=0x81000000 "
        "counter_hz=54000000 uart_hz=44006400 gic=2 view=non-secure priority_bits=5 baud=115200"));
    const Findings found = judge_board(board);
    EXPECT_EQ(find(found, "CPU")->text, "Cortex-A76 r4p1");
    EXPECT_EQ(find(found, "MPIDR_EL1.MT")->state, Finding::note);
    EXPECT_EQ(find(found, "counter"), nullptr);
    EXPECT_EQ(find(found, "UART clock"), nullptr);
    EXPECT_TRUE(board.take("boot: counter_hz=62500000"));
    EXPECT_THAT(find(judge_board(board), "counter")->text, HasSubstr("on rpi5 54 MHz are usual"));
}

TEST(Board, NamesOfCores) {
    EXPECT_EQ(cpu_name(0x410fd034), "Cortex-A53 r0p4");
    EXPECT_EQ(cpu_name(0x414fd0b1), "Cortex-A76 r4p1");
    EXPECT_EQ(cpu_name(0x413fd0c1), "Neoverse N1 r3p1");
    EXPECT_EQ(cpu_name(0x412fd050), "Cortex-A55 r2p0");
    EXPECT_EQ(cpu_name(0x000f0510), "QEMU's -cpu max");
    EXPECT_THAT(cpu_name(0x611fd083), HasSubstr("implementer 0x61, part 0xd08"));
    EXPECT_THAT(cpu_name(0x410ffff0), HasSubstr("not in doctor's table"));
}

TEST(Board, UnusualWordsAreFindings) {
    struct Case {
        const char *words, *what;
        Finding::State state;
    };
    for (const Case& of : {
             Case{"level=3", "exception level", Finding::problem},
             Case{"dtb=none", "device tree", Finding::note},
             Case{"midr=0x410fd034", "errata 843419, 835769", Finding::note},
             Case{"midr=0x410fd034 revidr=0x100", "erratum 835769", Finding::note},
             Case{"mpidr=0x81000000", "MPIDR_EL1.MT", Finding::note},
             Case{"counter_hz=0", "counter", Finding::problem},
             Case{"counter_hz=62500000", "counter", Finding::note},
             Case{"mailbox=silent", "mailbox", Finding::problem},
             Case{"arm_hz=600000000", "Arm clock", Finding::note},
             Case{"uart_hz=48000000 baud=4000000", "UART clock", Finding::problem},
             Case{"uart_hz=3000000", "UART clock", Finding::note},
             Case{"view=secure", "GIC's view", Finding::note},
             Case{"priority_bits=8", "GIC's priorities", Finding::note},
             Case{"gic=none", "GIC", Finding::problem},
             Case{"ctr=0x80038007", "cache lines", Finding::note},
             Case{"midr=0x413fd0c1 ctr=0xb4448004", "erratum 1542419", Finding::note},
         }) {
        const Findings found = unusual(of.words);
        ASSERT_EQ(found.size(), 1u) << of.words;
        EXPECT_EQ(found[0].what, of.what) << of.words;
        EXPECT_EQ(found[0].state, of.state) << of.words;
        EXPECT_FALSE(found[0].fix.empty()) << of.words;
    }
}

TEST(Board, UsualWordsAreNoFindings) {
    for (const char* const words :
         {"level=1", "midr=0x411fd030", "arm_hz=1800000000", "uart_hz=48000000 baud=3000000",
          "gic=3", "board=rpi3 counter_hz=19200000 arm_hz=1400000000 gic=none", "baud=115200",
          "board=zcu102 dtb=none counter_hz=99990000 uart_hz=99990000 baud=2000000",
          "board=virt dtb=none counter_hz=1000000000 uart_hz=0 arm_hz=0",
          "board=rpi4-mini-uart baud=1000000"})
        EXPECT_EQ(unusual(words).size(), 0u) << words;
}

TEST(Board, RatesThatTheUartMakes) {
    const auto made = [](const std::string& words, std::uint64_t baud) {
        return nearest_baud(board_of(words), baud);
    };
    EXPECT_DOUBLE_EQ(made("board=rpi4 uart_hz=64000000", 4000000), 4000000);
    EXPECT_NEAR(made("board=rpi4 uart_hz=64000000", 3000000), 3011764.7, 0.1);
    EXPECT_EQ(made("board=rpi4 uart_hz=47000000", 3000000), 0) << "less than 16 periods a bit";
    EXPECT_NEAR(made("board=rpi4-mini-uart core_hz=500000000", 1000000), 992063.5, 0.1);
    EXPECT_DOUBLE_EQ(made("board=zcu102 uart_hz=100000000", 2000000), 2000000);
    EXPECT_EQ(made("board=virt uart_hz=24000000", 115200), 0);
    EXPECT_EQ(made("board=rpi4", 115200), 0);
}

TEST(Board, AMiniUartIsJudgedByTheVideoCoresClock) {
    const auto judged = [](const std::string& words) {
        return find(judge_board(board_of("board=rpi4 " + words)), "UART clock") != nullptr;
    };
    EXPECT_FALSE(judged("core_hz=500000000 baud=1000000"));
    EXPECT_TRUE(judged("core_hz=250000000 baud=3000000"));
}

TEST(Board, FewOrStrangeWordsMakeNoTrouble) {
    for (const char* const words :
         {"x", "=", "level=", "midr=zz ctr=0xffffffffffffffffff", "ctr=0xffffffff",
          "baud=0 uart_hz=1", "baud=1 uart_hz=18446744073709551615 board=rpi4",
          "counter_hz=18446744073709551615 board=rpi3", "priority_bits=99999 gic=\xff"}) {
        for (const Finding& one : judge_board(board_of(words)))
            EXPECT_FALSE(one.text.empty()) << words;
    }
}

using testing::Eq;
using testing::Optional;

constexpr std::string_view first = "boot: nopscope board=rpi4 level=2 dtb=none\r\n";

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

}  // namespace nopscope::host::test::board_test
