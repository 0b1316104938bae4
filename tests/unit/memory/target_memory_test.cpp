// SPDX-License-Identifier: Apache-2.0
// A stub of gdb's protocol, correct or faulty, and what a reader of memory makes of its answers.
#include "host-tools/line/memory/target_memory.hpp"
#include "tests/unit/host/error_of.hpp"
#include "tests/unit/host/prelude.hpp"

namespace nopscope::host::test::target_memory_test {

std::string packet(const std::string& data) {
    unsigned sum = 0;
    for (const char c : data) sum += static_cast<std::uint8_t>(c);
    return fmt::format("${}#{:02x}", data, sum & 0xff);
}

struct Stub {
    std::function<std::string(const std::string&)> answer;
    std::vector<std::string> asked;
    unsigned interrupts = 0, naks = 0;
};

struct StubSource final : Source {
    explicit StubSource(Stub& stub) : stub_(stub) {}
    Result read(std::span<std::uint8_t> to, std::chrono::milliseconds) override {
        const std::size_t count = std::min({to.size(), out_.size(), std::size_t{7}});
        std::copy_n(out_.begin(), count, to.begin());
        out_.erase(0, count);
        return {count, false};
    }
    void write(std::span<const std::uint8_t> bytes) override {
        const std::string text(bytes.begin(), bytes.end());
        if (text == "+") return;
        if (text == "-") {
            ++stub_.naks;
        } else {
            if (text == "\x03") ++stub_.interrupts;
            stub_.asked.push_back(text == "\x03" ? text : text.substr(1, text.size() - 4));
            last_ = stub_.answer(stub_.asked.back());
        }
        out_ += last_;
    }

private:
    Stub& stub_;
    std::string out_, last_;
};

// Memory from 0x1000 to 0x9000: each byte is the low byte of its address.
std::string read_memory(const std::string& request) {
    std::uint64_t address = 0, count = 0;
    std::sscanf(request.c_str(), "m%lx,%lx", &address, &count);
    if (address < 0x1000 || address >= 0x9000) return "E14";
    std::string hex;
    for (std::uint64_t i = 0; i < count && address + i < 0x9000; ++i)
        hex += fmt::format("{:02x}", (address + i) & 0xff);
    return hex;
}
std::string good(const std::string& request) {
    if (request.starts_with("qSupported")) return "+" + packet("swbreak+;PacketSize=100;x+");
    if (request == "?") return "+" + packet("T05thread:01;");
    if (request == "D") return "+" + packet("OK");
    return "+" + packet(request[0] == 'm' ? read_memory(request) : "");
}

struct Gdb : ::testing::Test {
    std::vector<std::uint8_t> bytes(std::uint64_t address, std::size_t count, bool resume = false) {
        std::vector<std::uint8_t> to(count);
        const auto memory = open_gdb(std::make_unique<StubSource>(stub), "stub:1", resume, 50ms);
        memory->read(address, to);
        said = memory->release();
        return to;
    }
    std::string refusal(std::uint64_t address = 0x1000, std::size_t count = 64) {
        return error_of([&] { bytes(address, count); }).what();
    }
    // Requests that begin so are answered with `text`.
    void answer(const std::string& request, const std::string& text) {
        stub.answer = [=](const std::string& asked) {
            return asked.starts_with(request) ? text : good(asked);
        };
    }
    void expect_true(const std::vector<std::uint8_t>& got, std::uint64_t address) {
        for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], (address + i) & 0xff) << i;
    }

    Stub stub{good, {}, 0, 0};
    std::string said;
};

TEST_F(Gdb, ReadsInPiecesAndLeavesItStopped) {
    expect_true(bytes(0x1ff3, 5000), 0x1ff3);
    EXPECT_EQ(std::count(stub.asked.begin(), stub.asked.end(), "D"), 0);
    EXPECT_THAT(said, HasSubstr("left stopped"));
    for (const auto& request : stub.asked) EXPECT_LE(read_memory(request).size() + 4, 0x100u);
}
TEST_F(Gdb, RunsOnWhereAsked) {
    bytes(0x1000, 1, true);
    EXPECT_EQ(stub.asked.back(), "D");
    EXPECT_THAT(said, HasSubstr("runs on"));
    answer("D", packet("E01"));
    bytes(0x1000, 1, true);
    EXPECT_EQ(stub.asked.back(), "c");
}
TEST_F(Gdb, QemuSaysWhetherItRan) {
    const auto says = [&](const std::string& status) {
        stub.answer = [=](const std::string& request) {
            if (!request.starts_with("qRcmd")) return good(request);
            std::string hex;
            for (const char c : "VM status: " + status + "\r\n") hex += fmt::format("{:02x}", c);
            return packet("O" + hex) + packet("OK");
        };
        bytes(0x1000, 1);
        return said;
    };
    EXPECT_THAT(says("paused (debug)"), HasSubstr("was stopped, and is left so"));
    EXPECT_EQ(std::count(stub.asked.begin(), stub.asked.end(), "D"), 0);
    EXPECT_THAT(says("paused"), HasSubstr("was running"));
    EXPECT_EQ(stub.asked.back(), "D");
}
TEST_F(Gdb, ARunningTargetIsInterrupted) {
    bool stopped = false;
    stub.answer = [&](const std::string& request) {
        if (request == "\x03") return stopped = true, packet("T02");
        return stopped ? good(request) : std::string();
    };
    expect_true(bytes(0x1000, 100), 0x1000);
    EXPECT_EQ(stub.interrupts, 1u);
    EXPECT_EQ(stub.asked.back(), "D");
    EXPECT_THAT(said, HasSubstr("was running"));
}
TEST_F(Gdb, RunLengthsNoiseAndDamage) {
    answer("m", packet("ab0* "));
    EXPECT_THAT(bytes(0x1000, 3), ::testing::ElementsAre(0xab, 0, 0));
    unsigned times = 0;
    stub.answer = [&](const std::string& request) {
        // The line damages the first answer. Asked again, the stub repeats it correctly.
        const bool is_first = request[0] == 'm' && times++ == 0;
        return is_first ? "$00#ff" + good(request).substr(1) : good(request);
    };
    expect_true(bytes(0x1000, 100), 0x1000);
    EXPECT_EQ(stub.naks, 1u);
}
TEST_F(Gdb, FaultsAreSaid) {
    EXPECT_THAT(refusal(0x20, 4),
                HasSubstr("stub:1: the target's memory at 0x20 cannot be read (E14)"));
    EXPECT_THAT(refusal(0x8ff0, 64), HasSubstr("memory at 0x9000 cannot be read"));
    const struct {
        const char* request;
        std::string answer;
        const char* said;
    } faults[] = {{"", "", "does not answer as a gdb stub does"},
                  {"", std::string(5000, 'x'), "is no gdb stub"},
                  {"?", packet("W00"), "no target that is stopped (W00)"},
                  {"m", packet("*"), "makes no sense"},
                  {"m", "$00#ff", "packets come damaged"},
                  {"m", packet(read_memory("m1000,1000")), "cannot be read"},
                  // 6 and 5 digits: not pairs.
                  {"m", "++%Stop:x#00" + packet("0*\"1*!"), "cannot be read"}};
    for (const auto& fault : faults) {
        answer(fault.request, fault.answer);
        EXPECT_THAT(refusal(), HasSubstr(fault.said));
    }
}
TEST_F(Gdb, HostileStub) {
    std::mt19937 random(3);
    stub.answer = [&](const std::string& request) {
        std::string text = good(request);
        for (unsigned i = 0; i < random() % 4; ++i)
            text[random() % text.size()] = static_cast<char>(random());
        return text;
    };
    for (int round = 0; round < 100; ++round) (void)refusal(0x1000, 200);
}

struct Load {
    std::uint64_t virtual_address, physical_address, file_bytes, bytes;
};
// Each byte of a segment is its number, from 1.
Bytes core_dump(const std::vector<Load>& loads) {
    Bytes file(64 + 56 * loads.size());
    const std::uint8_t ident[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    std::copy(std::begin(ident), std::end(ident), file.begin());
    const auto count = static_cast<std::uint8_t>(loads.size());
    const std::pair<std::size_t, std::uint8_t> fields[] = {
        {16, 4}, {18, 183}, {32, 64}, {54, 56}, {56, count}};
    for (const auto& [at, value] : fields) file[at] = value;
    for (std::size_t n = 0; n < loads.size(); ++n) {
        const Load& load = loads[n];
        const std::uint64_t header[] = {
            1,         file.size(), load.virtual_address, load.physical_address, load.file_bytes,
            load.bytes};
        std::memcpy(&file[64 + 56 * n], header, sizeof header);
        file.insert(file.end(), load.file_bytes, static_cast<std::uint8_t>(n + 1));
    }
    return file;
}

struct MemoryFile : ::testing::Test {
    ~MemoryFile() override { std::remove(path.c_str()); }
    void write(const Bytes& bytes) {
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
    }
    std::string read(std::uint64_t address, std::size_t count,
                     std::optional<std::uint64_t> base = {}) {
        got.assign(count, 0xee);
        return error_of([&] { open_memory_file(path, base)->read(address, got); }).what();
    }
    std::string path = ::testing::TempDir() + "memory_file_test";
    Bytes got;
};

TEST_F(MemoryFile, ACoreDump) {
    write(core_dump({{0, 0x1000, 16, 16}, {0, 0x1010, 8, 24}}));
    EXPECT_TRUE(is_core_dump(path));
    EXPECT_EQ(read(0x100c, 20), "");
    EXPECT_EQ(got, (Bytes{1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_THAT(read(0x1020, 9),
                HasSubstr("has no memory at 0x1028: it has 0x1000 to 0x1010, 0x1010 to 0x1028"));
    // Core dumps of gdb have virtual addresses.
    write(core_dump({{0x8000, 0, 4, 4}, {0, 0x1010, 8, 24}}));
    EXPECT_EQ(read(0x8000, 4), "");
    EXPECT_NE(read(0x1010, 4), "");
}
TEST_F(MemoryFile, AnImage) {
    write({1, 2, 3, 4});
    EXPECT_FALSE(is_core_dump(path));
    EXPECT_EQ(read(0x4001, 3, 0x4000), "");
    EXPECT_EQ(got, (Bytes{2, 3, 4}));
    EXPECT_THAT(read(0x4001, 4, 0x4000), HasSubstr("has no memory at 0x4004"));
    EXPECT_THAT(read(0x3fff, 1, 0x4000), HasSubstr("has no memory at 0x3fff"));
    EXPECT_THAT(read(0x4000, 1), HasSubstr("with --memory-base"));
    EXPECT_NE(read(0x3, 1, ~std::uint64_t{0}), "");
}
TEST_F(MemoryFile, CutOrSpoiled) {
    const Bytes whole = core_dump({{0, 0x1000, 16, 16}, {0, 0x2000, 64, 64}});
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        write(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut)));
        EXPECT_NE(read(0x2000, 64), "") << cut;
    }
    std::mt19937 random(1);
    for (int round = 0; round < 2000; ++round) {
        Bytes bytes = whole;
        for (unsigned i = 0; i < 1 + random() % 4; ++i)
            bytes[random() % 176] = static_cast<std::uint8_t>(random());
        write(bytes);
        (void)read(0x2000, 64);
    }
}

}  // namespace nopscope::host::test::target_memory_test
