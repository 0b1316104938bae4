// SPDX-License-Identifier: Apache-2.0
// A port that follows its target's rate: a pseudo-terminal. The other side sends correct bytes
// while the port has its rate; otherwise it sends what a UART would receive.
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <sys/ioctl.h>

#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::follow_test {

constexpr std::uint32_t first_baud = 115200;

Bytes boot_lines(std::uint32_t baud) {
    const std::string text = fmt::format(
        "boot: nopscope board=rpi4 level=2 dtb=0x2eff3a00\r\n"
        "boot: midr=0x410fd083 revidr=0x0 mpidr=0x80000000 ctr=0x84448004 erg=16 pfr0=0x2222\r\n"
        "boot: counter_hz=54000000 arm_hz=1500000000 core_hz=500000000 uart_hz=64000000\r\n"
        "boot: gic=2 view=non-secure priority_bits=5\r\nboot: baud={}\r\n",
        baud);
    return {text.begin(), text.end()};
}

class Board {
public:
    Board() : master_(posix_openpt(O_RDWR | O_NOCTTY)) {
        if (grantpt(master_) != 0 || unlockpt(master_) != 0) std::abort();
        // The test keeps it open, or bytes before the host opens it would fail. Raw, like a UART.
        held_ = open(ptsname(master_), O_RDWR | O_NOCTTY);
        termios2 settings{};
        ioctl(held_, TCGETS2, &settings);
        settings.c_iflag = settings.c_oflag = settings.c_lflag = 0;
        ioctl(held_, TCSETS2, &settings);
    }
    ~Board() {
        close(held_);
        close(master_);
    }
    Board(const Board&) = delete;
    Board& operator=(const Board&) = delete;

    std::string port() const { return ptsname(master_); }
    std::uint32_t host_baud() const {
        termios2 settings{};
        ioctl(master_, TCGETS2, &settings);
        return settings.c_ospeed;
    }
    void set_baud(std::uint32_t baud) { baud_ = baud; }
    // Takes as long as the rate says.
    void send(std::span<const std::uint8_t> bytes) {
        for (constexpr std::size_t most = 256; !bytes.empty();) {
            const auto piece = bytes.first(std::min(most, bytes.size()));
            bytes = bytes.subspan(piece.size());
            const bool is_heard = host_baud() == baud_;
            put(is_heard ? Bytes(piece.begin(), piece.end())
                         : test::received(piece, baud_, host_baud(), resync));
            if (!is_heard) garbled_bytes += piece.size();
            std::this_thread::sleep_for(piece.size() * 10'000'000us / baud_);
        }
    }
    void boot(std::uint32_t baud) {
        set_baud(first_baud);
        send(boot_lines(baud));
        set_baud(baud);
        std::this_thread::sleep_for(50ms);
        send(Bytes{0});
    }
    // Takes no time, whatever the rates are.
    void put(const Bytes& bytes) {
        for (std::size_t at = 0; at < bytes.size();) {
            const ssize_t count = write(master_, bytes.data() + at, bytes.size() - at);
            if (count <= 0) return;
            at += static_cast<std::size_t>(count);
        }
    }

    test::Resync resync = test::Resync::at_stop_bit;
    std::size_t garbled_bytes = 0;

private:
    int master_;
    int held_ = -1;
    std::uint32_t baud_ = first_baud;
};

class Followed : public testing::Test {
protected:
    // Reads until `life` of the board has ended and all its bytes are read.
    void run(const std::function<void()>& life, bool is_asked = false) {
        line.reset();
        source.reset();  // a port has one reader
        source = open_serial(board.port(), first_baud, is_asked);
        line.emplace(*source, told);
        std::atomic<bool> is_over = false;
        std::thread peer([&] {
            life();
            is_over = true;
        });
        for (auto last = LineReader::Clock::now();
             !is_over || LineReader::Clock::now() - last < 300ms;) {
            if (line->wait(20ms).count != 0) last = LineReader::Clock::now();
            line->take(LineReader::Clock::now());
            if (const auto said = line->complaint(LineReader::Clock::now())) complaint = *said;
        }
        peer.join();
        line->finish();
    }
    void expect_no_damage() {
        EXPECT_EQ(of_line().corrupt_frames + of_line().raw_bytes + of_line().cut_bytes, 0u);
        EXPECT_EQ(complaint, "");
    }
    StreamCounters counters() const { return line->reader().counters(); }
    const LineCounters& of_line() const { return line->reader().line(); }
    // The text between frames that was shown.
    Bytes text() const {
        Bytes all;
        for (const std::string& item : told.rest) {
            if (item.starts_with("text ")) all.insert(all.end(), item.begin() + 5, item.end());
        }
        return all;
    }
    void calls(int count) {
        for (int n = 0; n < count; ++n)
            target.ret(target.entry(static_cast<std::uint32_t>(n % 90)));
        target.flush();
    }
    // The target sends these calls, with a hello if it shall. Then nothing comes for a while.
    void send_some(int count, bool with_hello = true) {
        target.bytes.clear();
        target.frame_ends.clear();
        if (with_hello) target.hello();
        calls(count);
        board.send(target.bytes);
        std::this_thread::sleep_for(50ms);
    }

    Board board;
    test::TargetStream target;
    std::unique_ptr<Source> source;
    test::Told told;
    std::optional<LineReader> line;
    std::string complaint;
};

TEST_F(Followed, TheAnnouncedRateFromTheFirstFrameOn) {
    const Bytes recorded = read_whole_file(NOPSCOPE_GOLDEN "/contexts.bin");
    SessionReader alone(told);
    alone.feed(recorded);
    alone.finish();
    ASSERT_GT(alone.line().frames, 30u);
    ASSERT_EQ(alone.line().corrupt_frames, 0u);
    for (const bool is_asked : {false, true}) {
        told = {};
        const auto life = [&] {
            board.boot(3'000'000);
            board.send(recorded);
        };
        run(life, is_asked);
        expect_no_damage();
        EXPECT_EQ(source->baud(), 3'000'000u);
        EXPECT_EQ(board.garbled_bytes, 0u);
        EXPECT_EQ(of_line().frames, alone.line().frames);
        EXPECT_EQ(counters(), alone.counters()) << "as if without the boot";
        EXPECT_EQ(text(), boot_lines(3'000'000));
        EXPECT_EQ(of_line().lead_bytes, text().size());
    }
}

// Like QEMU's port, which neither changes its rate nor waits.
TEST_F(Followed, AnEmulatedPortLosesNoFrameBehindTheAnnouncement) {
    Bytes bytes = boot_lines(3'000'000);
    bytes.push_back(0);
    target.hello();
    calls(100);
    target.finish();
    bytes.insert(bytes.end(), target.bytes.begin(), target.bytes.end());
    const auto within_a_frame = bytes.end() - 40;
    run([&] {
        board.put({bytes.begin(), within_a_frame});
        std::this_thread::sleep_for(50ms);
        board.put({within_a_frame, bytes.end()});
    });
    expect_no_damage();
    EXPECT_EQ(of_line().frames, target.frame_ends.size());
    EXPECT_EQ(counters().lost_frames, 0u);
}

TEST_F(Followed, ATargetThatRunsAlreadyIsFound) {
    std::size_t heard_frames = 0;
    run([&] {
        board.set_baud(3'000'000);
        for (int n = 0; n < 60; ++n) {
            const std::size_t before = board.garbled_bytes;
            send_some(20, n % 10 == 0);
            if (board.garbled_bytes == before) heard_frames += target.frame_ends.size();
        }
    });
    expect_no_damage();
    EXPECT_EQ(source->baud(), 3'000'000u);
    EXPECT_GT(heard_frames, 10u);
    // What came at the last wrong rate may be read at the right one, and run into the first frame.
    EXPECT_LE(of_line().frames, heard_frames);
    EXPECT_GE(of_line().frames, heard_frames - 1);
}

TEST_F(Followed, AResetInTheMiddleIsNoDamage) {
    for (const auto resync : {test::Resync::at_edge, test::Resync::at_stop_bit}) {
        board.resync = resync;
        std::size_t frames = 0;
        run([&] {
            board.boot(3'000'000);
            target.hello();
            calls(500);
            frames = target.frame_ends.size();
            calls(500);
            target.bytes.resize(target.frame_ends[frames - 1] + 40);  // the reset cuts a frame
            board.send(target.bytes);
            board.boot(3'000'000);
            target.reset();
            send_some(500);
            frames += target.frame_ends.size();
        });
        expect_no_damage();
        EXPECT_GT(board.garbled_bytes, 200u) << "the host is at 3 Mbaud when the boot lines come";
        EXPECT_EQ(of_line().frames, frames);
        EXPECT_EQ(counters().sessions, 2u);
        EXPECT_EQ(counters().lost_frames, 0u);
        board.garbled_bytes = 0;
    }
}

TEST_F(Followed, AnotherRateAfterAResetIsFound) {
    std::size_t heard = 0;
    run([&] {
        board.boot(3'000'000);
        target.hello();
        board.send(target.bytes);
        board.boot(1'000'000);
        target.reset();
        for (int n = 0; n < 110; ++n) {
            send_some(20);
            heard += board.host_baud() == 1'000'000;
        }
    });
    EXPECT_EQ(source->baud(), 1'000'000u);
    EXPECT_GT(heard, 10u);
    EXPECT_EQ(counters().sessions, 2u);
    expect_no_damage();
}

TEST_F(Followed, DamageWithinASessionIsCounted) {
    run([&] {
        board.boot(3'000'000);
        target.hello();
        calls(100);
        target.bytes[target.frame_ends.back() - 3] ^= 0x10;
        calls(100);
        target.finish();
        board.send(target.bytes);
    });
    EXPECT_EQ(of_line().corrupt_frames, 1u);
}

// If the user named a rate, the port keeps it and says what to do.
TEST_F(Followed, ARateThatAPersonHasNamedIsNotReplacedByAGuess) {
    const auto life = [&] {
        board.set_baud(3'000'000);
        for (int n = 0; n < 80; ++n) send_some(40);
    };
    run(life, true);
    EXPECT_THAT(complaint, HasSubstr("not one frame"));
    EXPECT_EQ(counters().sessions, 0u);
}

// The driver of this adapter cannot make the announced rate.
TEST(FollowedNot, ARateThatThePortDoesNotMakeIsSaid) {
    struct Slow final : Source {
        Result read(std::span<std::uint8_t> to, std::chrono::milliseconds) override {
            const Bytes bytes = is_sent ? Bytes() : boot_lines(3'000'000);
            is_sent = true;
            std::copy(bytes.begin(), bytes.end(), to.begin());
            return {bytes.size(), false};
        }
        void set_baud(std::uint32_t) override { throw Error("no such rate"); }
        std::uint32_t baud() const override { return first_baud; }
        bool may_try_rates() const override { return true; }
        bool is_sent = false;
    } slow;
    test::Told told;
    LineReader line(slow, told);
    line.wait(0ms);
    line.take(LineReader::Clock::now());
    EXPECT_THAT(line.complaint(LineReader::Clock::now()).value_or(""),
                HasSubstr("goes on at 3000000 baud, which the port does not make"));
}

}  // namespace nopscope::host::test::follow_test
