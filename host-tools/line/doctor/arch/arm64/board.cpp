// SPDX-License-Identifier: Apache-2.0
#include "host-tools/line/doctor/board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

constexpr std::uint64_t arm = 0x41;
constexpr std::uint64_t cortex_a53 = 0xd03;
constexpr std::uint64_t neoverse_n1 = 0xd0c;

// Part numbers of MIDR_EL1, from each core's technical reference manual.
struct Part {
    std::uint64_t number;
    const char* name;
};
constexpr Part parts[] = {
    {0xd02, "Cortex-A34"},   {0xd03, "Cortex-A53"},  {0xd04, "Cortex-A35"},
    {0xd05, "Cortex-A55"},   {0xd06, "Cortex-A65"},  {0xd07, "Cortex-A57"},
    {0xd08, "Cortex-A72"},   {0xd09, "Cortex-A73"},  {0xd0a, "Cortex-A75"},
    {0xd0b, "Cortex-A76"},   {0xd0c, "Neoverse N1"}, {0xd0d, "Cortex-A77"},
    {0xd0e, "Cortex-A76AE"}, {0xd40, "Neoverse V1"}, {0xd41, "Cortex-A78"},
    {0xd42, "Cortex-A78AE"}, {0xd44, "Cortex-X1"},   {0xd46, "Cortex-A510"},
    {0xd47, "Cortex-A710"},  {0xd48, "Cortex-X2"},   {0xd49, "Neoverse N2"},
    {0xd4b, "Cortex-A78C"},  {0xd4d, "Cortex-A715"}, {0xd4e, "Cortex-X3"},
    {0xd4f, "Neoverse V2"},  {0xd80, "Cortex-A520"}, {0xd81, "Cortex-A720"},
    {0xd82, "Cortex-X4"},
};

// Values from the boards' documents. 0: unknown, or the board has several.
struct Board {
    const char* name;
    std::uint64_t counter_hz;
    std::uint64_t least_arm_hz;
};
constexpr Board boards[] = {
    {"rpi4", 54'000'000, 1'500'000'000},
    {"rpi3", 19'200'000, 1'200'000'000},
    {"rpi5", 54'000'000, 0},
    {"zcu102", 100'000'000, 0},
};

std::uint64_t bits(std::uint64_t value, unsigned from, unsigned count) {
    return value >> from & ((std::uint64_t{1} << count) - 1);
}
bool is_raspberry(const BootWords& words) { return words.text("board").starts_with("rpi"); }
// The VideoCore's clock drives the mini UART, so there is no uart_hz.
bool is_mini_uart(const BootWords& words) {
    return is_raspberry(words) && words.has("core_hz") && !words.has("uart_hz");
}
// Matches by prefix: "rpi4-mini-uart" is an rpi4.
const Board* board_of(const BootWords& words) {
    const auto found = std::find_if(std::begin(boards), std::end(boards), [&](const Board& each) {
        return words.text("board").starts_with(each.name);
    });
    return found == std::end(boards) ? nullptr : found;
}

std::string mhz(std::uint64_t hz) { return fmt::format("{:g} MHz", static_cast<double>(hz) / 1e6); }

class Judge {
public:
    explicit Judge(const BootWords& words) : words_(words) {}

    Findings all() {
        look_at_board();
        look_at_cpu();
        look_at_clocks();
        look_at_interrupts();
        look_at_rate();
        findings_.insert(findings_.end(), unusual_.begin(), unusual_.end());
        return findings_;
    }

private:
    void say(const std::string& what, const std::string& text) {
        if (!text.empty()) findings_.push_back({Finding::good, what, text, ""});
    }
    void note(const std::string& what, const std::string& text, const std::string& fix = {}) {
        unusual_.push_back({Finding::note, what, text, fix});
    }
    void problem(const std::string& what, const std::string& text, const std::string& fix) {
        unusual_.push_back({Finding::problem, what, text, fix});
    }

    void look_at_board() {
        std::string text = words_.text("board");
        if (text.empty()) text = "one that does not say its name";
        const auto level = words_.number("level");
        if (level) text += fmt::format(", entered at EL{}", *level);
        const bool has_tree = words_.number("dtb").value_or(0) != 0;
        if (words_.has("dtb"))
            text += has_tree ? ", with a device tree" : ", without a device tree";
        say("board", text);
        if (level && *level != 1 && *level != 2) {
            problem("exception level", fmt::format("the image was entered at EL{}", *level),
                    "enter it at EL2 or EL1: let the board's firmware (the stub of a Raspberry Pi, "
                    "TF-A) start it");
        }
        if (words_.text("dtb") == "none" && is_raspberry(words_)) {
            note("device tree", "the boot firmware has passed none",
                 "put the board's .dtb onto the card: without it the firmware may choose another "
                 "stub (docs/rpi4.md)");
        }
        if (!words_.has("baud")) {
            note("boot lines", "the last one, with the rate, did not come",
                 "reset the board while doctor listens; if it stops there, the board hangs");
        }
    }

    void look_at_cpu() {
        std::string text;
        const auto midr = words_.number("midr");
        if (midr) text = cpu_name(*midr);
        if (const auto ctr = words_.number("ctr")) {
            const std::uint64_t code = std::uint64_t{4} << bits(*ctr, 0, 4);
            const std::uint64_t data = std::uint64_t{4} << bits(*ctr, 16, 4);
            text += fmt::format("{}cache lines of {} bytes (code) and {} (data)",
                                text.empty() ? "" : ", ", code, data);
            if (std::min(code, data) < 16 || std::max(code, data) > 128) {
                note("cache lines",
                     fmt::format("CTR_EL0 is {:#x}: 16 to 128 bytes are usual", *ctr),
                     "say so in a report: the tracer takes the size from there");
            }
            const bool has_dic = bits(*ctr, 29, 1) != 0;
            if (midr && has_dic && is_arm(*midr, neoverse_n1)) {
                note("erratum 1542419",
                     "this core may run old instructions after another core has changed them",
                     "look into the core's errata notice whether its revision has it");
            }
        }
        say("CPU", text);
        if (midr && is_arm(*midr, cortex_a53)) look_at_a53(*midr);
        if (const auto mpidr = words_.number("mpidr"); mpidr && bits(*mpidr, 24, 1) != 0) {
            note("MPIDR_EL1.MT", "the core's number is in Aff1, as on cores with threads",
                 "nothing, if the image counts its cores right");
        }
    }
    static bool is_arm(std::uint64_t midr, std::uint64_t part) {
        return bits(midr, 24, 8) == arm && bits(midr, 4, 12) == part;
    }
    // Arm's errata notice: both exist up to r0p4. A REVIDR_EL1 bit says that r0p4 has 843419 fixed.
    void look_at_a53(std::uint64_t midr) {
        const std::uint64_t variant = bits(midr, 20, 4), revision = bits(midr, 0, 4);
        if (variant != 0 || revision > 4) return;
        const bool is_fixed = revision == 4 && bits(words_.number("revidr").value_or(0), 8, 1) != 0;
        note(is_fixed ? "erratum 835769" : "errata 843419, 835769",
             "this Cortex-A53 computes wrong results after certain sequences of instructions",
             "compile and link with -mfix-cortex-a53-843419 -mfix-cortex-a53-835769, libraries "
             "too; nopscope's presets for boards with an A53 do");
    }

    void look_at_clocks() {
        std::string text;
        for (const auto& [key, name] : {std::pair{"counter_hz", "counter"},
                                        {"arm_hz", "Arm cores"},
                                        {"core_hz", "VideoCore"},
                                        {"uart_hz", "UART"}}) {
            if (const auto hz = words_.number(key); hz && *hz != 0)
                text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, mhz(*hz));
        }
        say("clocks", text);
        const Board* const board = board_of(words_);
        if (const auto counter = words_.number("counter_hz")) look_at_counter(*counter, board);
        if (words_.text("mailbox") == "silent") {
            problem("mailbox", "the VideoCore did not answer: its clocks are not known",
                    "look whether start4.elf (Pi 3: start.elf) on the card is whole and recent");
        }
        const auto arm_hz = words_.number("arm_hz");
        if (arm_hz && board != nullptr && *arm_hz < board->least_arm_hz / 100 * 99) {
            note("Arm clock",
                 fmt::format("the cores run at {}, and {} has {}: durations may change while it "
                             "runs, when the firmware raises the clock",
                             mhz(*arm_hz), board->name, mhz(board->least_arm_hz)),
                 "force_turbo=1 in config.txt; QEMU says 700 MHz whatever the card wants");
        }
    }
    void look_at_counter(std::uint64_t counter, const Board* board) {
        if (counter == 0) {
            problem("counter", "CNTFRQ_EL0 is 0: the counter's rate is not known",
                    "the firmware that runs before the image has to set it");
            return;
        }
        const std::uint64_t usual = board == nullptr ? 0 : board->counter_hz;
        const double off =
            static_cast<double>(counter) / static_cast<double>(usual != 0 ? usual : counter);
        if (std::abs(off - 1) > 0.01) {
            note("counter",
                 fmt::format("it counts at {}, and on {} {} are usual", mhz(counter), board->name,
                             mhz(usual)),
                 "if this is no QEMU (62.5 MHz), durations may be wrong by that factor: time "
                 "something with a watch");
        }
    }

    void look_at_interrupts() {
        const std::string gic = words_.text("gic");
        if (gic.empty()) return;
        const auto priority_bits = words_.number("priority_bits");
        const std::string view = words_.text("view");
        std::string text = gic == "none" ? "no GIC" : "GICv" + gic;
        if (!view.empty()) text += ", " + view + " view";
        if (priority_bits) text += fmt::format(", {} priority bits", *priority_bits);
        say("interrupts", text);
        if (gic == "none" && words_.text("board").starts_with("rpi4")) {
            problem("GIC", "the board has one, and it does not answer",
                    "enable_gic=1 in config.txt (docs/rpi4.md)");
        }
        if (view == "secure") {
            note("GIC's view", "the image sees it as secure software does",
                 "nothing, if interrupts work: the selftest shows that");
        }
        if (priority_bits && *priority_bits != 4 && *priority_bits != 5) {
            note("GIC's priorities", fmt::format("{} bits, and 4 or 5 are usual", *priority_bits),
                 "nothing under QEMU, whose GICv2 has 8; else look at the selftest's interrupt "
                 "tests");
        }
    }

    void look_at_rate() {
        const auto baud = words_.number("baud");
        if (!baud || *baud == 0) return;
        say("rate", fmt::format("{} baud after these lines", with_commas(*baud)));
        const double nearest = nearest_baud(words_, *baud);
        const char* const key = is_mini_uart(words_) ? "core_hz" : "uart_hz";
        const auto hz = words_.number(key);
        if (!hz || *hz == 0) return;
        const double off = std::abs(nearest / static_cast<double>(*baud) - 1);
        if (off <= 0.025) return;
        const std::string text =
            nearest == 0 ? fmt::format("{} cannot make {} baud", mhz(*hz), with_commas(*baud))
                         : fmt::format("{} makes {:.0f} of {} baud, which is {:.1f} % off",
                                       mhz(*hz), nearest, with_commas(*baud), off * 100);
        // QEMU reports 3 MHz.
        if (is_raspberry(words_) && *hz == 3'000'000) {
            note("UART clock", text,
                 "nothing under QEMU; on a board: init_uart_clock=64000000 in config.txt");
        } else {
            problem("UART clock", text + ": a UART reads wrong bytes from 2.5 % on",
                    is_raspberry(words_) ? "the lines of config.txt as docs/rpi4.md has them"
                                         : "build the image for a lower rate");
        }
    }

    const BootWords& words_;
    Findings findings_;
    Findings unusual_;
};

}  // namespace

std::string cpu_name(std::uint64_t id) {
    const std::uint64_t implementer = bits(id, 24, 8), number = bits(id, 4, 12);
    const std::string revision = fmt::format(" r{}p{}", bits(id, 20, 4), bits(id, 0, 4));
    if (id == 0x000f0510) return "QEMU's -cpu max";
    const auto found = std::find_if(std::begin(parts), std::end(parts),
                                    [&](const Part& each) { return each.number == number; });
    if (implementer == arm && found != std::end(parts)) return found->name + revision;
    return fmt::format("implementer {:#x}, part {:#x},{}: not in doctor's table", implementer,
                       number, revision);
}

double nearest_baud(const BootWords& words, std::uint64_t baud) {
    const auto hz = words.number(is_mini_uart(words) ? "core_hz" : "uart_hz");
    if (!hz || *hz == 0 || baud == 0) return 0;
    const auto clock = static_cast<double>(*hz);
    const auto wanted = static_cast<double>(baud);
    if (is_mini_uart(words)) {
        const double divisor = std::clamp(std::round(clock / 8 / wanted), 1.0, 65536.0);
        return clock / 8 / divisor;
    }
    if (words.text("board").starts_with("zcu102")) {  // Cadence: clock / (CD (BDIV + 1))
        double best = 0;
        for (double samples = 5; samples <= 256; ++samples) {
            const double divisor = std::clamp(std::round(clock / samples / wanted), 1.0, 65535.0);
            const double made = clock / samples / divisor;
            if (std::abs(made - wanted) < std::abs(best - wanted)) best = made;
        }
        return best;
    }
    if (!is_raspberry(words)) return 0;
    // PL011: clock / 16 / (IBRD + FBRD / 64), where IBRD is at least 1.
    const double divisor = std::round(clock * 4 / wanted);
    return divisor < 64 || divisor > 65535.0 * 64 ? 0 : clock * 4 / divisor;
}

Findings judge_board(const BootWords& words) { return Judge(words).all(); }

}  // namespace nopscope::host
