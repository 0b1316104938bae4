// SPDX-License-Identifier: Apache-2.0
// A part that is read from a checkpoint is the part that is read from the recording's begin.
#include "host-tools/analysis/part/checkpoints.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "host-tools/base/file.hpp"
#include "host-tools/recording/journal.hpp"
#include "host-tools/recording/writer.hpp"
#include "host-tools/views/engine/engine.hpp"
#include "tests/unit/host/random_tasks.hpp"
#include "tests/unit/host/random_trace.hpp"
#include "tests/unit/host/report_fixture.hpp"

namespace nopscope::host {
namespace {

using nlohmann::json;
using test::Bytes;

// A recording of the line whose blocks have the records of so many bytes of it.
Bytes recorded(const Bytes& line, const Symbols& symbols, std::size_t block_bytes) {
    const std::string path = testing::TempDir() + "checkpoints.nsc";
    {
        nsc::Writer writer(path, {.source = "-", .tool = "t", .started_unix_ns = 1});
        writer.symbols(symbols);
        nsc::Journal journal(writer);
        SessionReader reader(journal);
        for (std::span<const std::uint8_t> left(line); !left.empty();) {
            const auto count = std::min(block_bytes, left.size());
            reader.feed(left.first(count));
            left = left.subspan(count);
            journal.flush(reader.line(), reader.counters(), 2);
        }
        reader.finish();
        journal.flush(reader.line(), reader.counters(), 3);
        writer.end({.line_bytes = line.size()});
    }
    Bytes bytes = read_whole_file(path);
    std::filesystem::remove(path);
    return bytes;
}

class Recording {
public:
    explicit Recording(Bytes bytes) : bytes_(std::move(bytes)) {
        quick_.expect_parts();
        EXPECT_TRUE(plain_.open(input_of(bytes_), {.file = "x.nsc"}, {}));
        EXPECT_TRUE(quick_.open(input_of(bytes_), {.file = "x.nsc"}, {}));
        const std::string whole = plain_.ask(R"({"ask":"view"})");
        EXPECT_EQ(quick_.ask(R"({"ask":"view"})"), whole);
        duration_ = json::parse(whole)["duration"];
    }
    std::uint64_t duration() const { return duration_; }
    // Of the last part.
    std::uint64_t records_read() { return json::parse(quick_.ask(R"({"ask":"cost"})"))["records"]; }
    void expect_same(const json& question) {
        const std::string text = question.dump();
        const std::string quick = quick_.ask(text), plain = plain_.ask(text);
        const auto at = std::ranges::mismatch(quick, plain).in1 - quick.begin();
        const auto from = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, at - 80));
        EXPECT_TRUE(quick == plain) << text << "\n"
                                    << quick.substr(from, 160) << "\n"
                                    << plain.substr(from, 160);
    }
    void expect_same_parts(unsigned seed, unsigned count) {
        std::mt19937_64 random(seed);
        const auto below = [&random](std::uint64_t most) { return random() % (most + 1); };
        for (unsigned n = 0; n < count; ++n) {
            const std::uint64_t from = below(duration_);
            const std::uint64_t length = 1 + below(random() % 3 == 0 ? duration_ : duration_ / 20);
            json question{{"ask", "view"},
                          {"time", fmt::format("{}ns..{}ns", from, from + length)}};
            switch (random() % 8) {
            case 0: question["time"] = fmt::format("{}ns..", from); break;
            case 1: question["time"] = fmt::format("..{}ns", length); break;
            case 2: question["core"] = random() % 2; break;
            case 3: question["task"] = std::to_string(random() % 3); break;
            case 4: question["under"] = "f" + std::to_string(random() % 8); break;
            default: break;
            }
            expect_same(question);
        }
    }

private:
    Bytes bytes_;
    Engine plain_, quick_;
    std::uint64_t duration_ = 0;
};

TEST(CheckpointsTest, PartsOfRandomCallsAreTheSame) {
    for (unsigned seed = 0; seed < 12; ++seed) {
        const test::RandomTrace trace(seed);
        Recording recording(recorded(trace.target.bytes, trace.symbols, 300));
        SCOPED_TRACE(seed);
        recording.expect_same_parts(seed, 60);
    }
}

TEST(CheckpointsTest, PartsOfTasksAreTheSame) {
    for (unsigned seed = 0; seed < 12; ++seed) {
        const test::RandomTasks tasks(seed, seed % 2 == 1);
        Recording recording(recorded(tasks.target.bytes, tasks.symbols, 200));
        SCOPED_TRACE(seed);
        recording.expect_same_parts(seed, 60);
    }
}

TEST(CheckpointsTest, PartsOfSeveralSessionsAreTheSame) {
    for (unsigned seed = 0; seed < 6; ++seed) {
        Bytes line;
        const test::RandomTasks first(seed), second(seed + 1, true), third(seed + 2);
        for (const auto* tasks : {&first, &second, &third})
            line.insert(line.end(), tasks->target.bytes.begin(), tasks->target.bytes.end());
        Recording recording(recorded(line, first.symbols, 200));
        SCOPED_TRACE(seed);
        recording.expect_same_parts(seed, 60);
    }
}

TEST(CheckpointsTest, PartsOfADamagedRecordingAreTheSame) {
    const test::RandomTasks tasks(5);
    const Bytes whole = recorded(tasks.target.bytes, tasks.symbols, 200);
    std::mt19937 random(5);
    for (unsigned n = 0; n < 60; ++n) {
        Bytes bytes = whole;
        for (unsigned i = 0; i < 3; ++i)
            bytes[bytes.size() / 3 + random() % (bytes.size() / 2)] ^= 0x40;
        Recording recording(bytes);
        SCOPED_TRACE(n);
        recording.expect_same_parts(n, 20);
    }
}

TEST(CheckpointsTest, AShortPartReadsFewRecords) {
    test::TargetStream target;
    target.hello();
    constexpr std::uint64_t calls = 40'000;
    for (std::uint64_t n = 0; n < calls; ++n) {
        target.ret(target.entry(1, 100), 50);
        if (n % 50 == 49) target.flush();
    }
    target.finish();
    Recording recording(recorded(target.bytes, test::symbols_of(target, {"f0", "f1"}), 300));
    const std::uint64_t duration = recording.duration();
    for (std::uint64_t tenth = 0; tenth < 10; ++tenth) {
        const std::uint64_t from = duration / 10 * tenth + duration / 20;
        recording.expect_same(
            {{"ask", "view"}, {"time", fmt::format("{}ns..{}ns", from, from + duration / 100)}});
        EXPECT_GE(recording.records_read(), 2 * calls / 100);
        EXPECT_LE(recording.records_read(), 2 * calls * 3 / 100) << tenth;
    }
}

}  // namespace
}  // namespace nopscope::host
