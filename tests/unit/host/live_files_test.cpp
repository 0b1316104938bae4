// SPDX-License-Identifier: Apache-2.0
// Recordings of a line while it is being read: asked for, and saved from a temporary file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "host-tools/base/error.hpp"
#include "host-tools/recording/read_file.hpp"
#include "tests/unit/host/live_fixture.hpp"

namespace nopscope::host {
namespace {

using namespace std::chrono_literals;
using test::Bytes;
using test::TargetStream;

class LiveFiles : public test::LiveFixture {
protected:
    // As `serve` does.
    void open_to_save(std::uint64_t most_saved_bytes = 1'000'000, bool comes_back = false) {
        open({.line = {.from = "test:", .image = {}, .memory = {}, .steering = {}},
              .most_saved_bytes = most_saved_bytes,
              .may_restart = true},
             comes_back);
    }
    // The whole file, as GET /recording sends it.
    nsc::Reader saved(Profile& profile) {
        const SavedRecording saved = live->saved();
        const std::string file = path("saved");
        std::ofstream to(file, std::ios::binary);
        for (std::uint64_t at = 0; at < saved.bytes();) {
            const auto bytes = saved.read(at, 100);
            at += bytes.size();
            to.write(reinterpret_cast<const char*>(bytes.data()),
                     static_cast<std::streamsize>(bytes.size()));
        }
        to.close();
        nsc::Reader reader;
        or_throw(nsc::read_file(reader, file, profile));
        std::filesystem::remove(file);
        const nsc::FileCounters& counters = reader.counters().file;
        EXPECT_EQ(counters.damaged_chunks + counters.skipped_bytes + counters.cut_bytes, 0u);
        EXPECT_TRUE(counters.has_end) << "as if the recorder had been killed";
        return reader;
    }
};

TEST_F(LiveFiles, ARecordingOnTheSideHasWhatCameMeanwhile) {
    open();
    target.hello();
    target.entry(1);
    target.argument(protocol::Extended::context, 5);
    const auto outer = target.entry(3);
    for (int n = 0; n < 100; ++n) target.ret(target.entry(2));
    send();
    const std::string file = path("side");
    live->start_recording(file);
    EXPECT_THROW(live->start_recording(path("second")), Error);
    EXPECT_TRUE(live->status().recording.on);
    for (int n = 0; n < 10; ++n) target.ret(target.entry(4));
    target.ret(outer);
    target.argument(protocol::Extended::context, 0);
    target.ret(target.entry(6));
    send();
    EXPECT_EQ(live->stop_recording().records, 24u);
    for (int n = 0; n < 7; ++n) target.ret(target.entry(4));
    send();

    nsc::Reader reader;
    Profile profile;
    or_throw(nsc::read_file(reader, file, profile));
    const Report report = or_throw(make_report(profile, reader.counters(), nullptr));
    const StreamCounters& stream = reader.counters().stream;
    EXPECT_EQ(stream.delivered, 24u);
    EXPECT_EQ(stream.generated, 24u);
    EXPECT_EQ(stream.lost, 0u);
    EXPECT_EQ(stream.gaps, 0u);
    EXPECT_EQ(stream.sessions, 1u);
    EXPECT_TRUE(profile.missing().empty());
    ASSERT_EQ(report.functions.size(), 2u);
    EXPECT_EQ(report.functions[0].calls, 10u);
    EXPECT_EQ(report.functions[1].calls, 1u);
    EXPECT_EQ(profile.decoder().orphan_returns, 1u) << "of the call that was open at its begin";
    EXPECT_EQ(reader.end()->reason, nsc::EndReason::interrupted);
    struct First final : SessionSink {
        void on_trace(unsigned /*core*/, const TraceBatch& batch) override {
            if (!context) context = batch.context;
        }
        std::optional<std::uint32_t> context;
    } first;
    nsc::Reader again;
    or_throw(nsc::read_file(again, file, first));
    EXPECT_EQ(first.context, 5u) << "that the core was in";
    std::filesystem::remove(file);
}

TEST_F(LiveFiles, ARecordingIsSavedWhileItGoesOn) {
    open_to_save();
    EXPECT_FALSE(live->status().can_be_saved);
    EXPECT_THROW(live->saved(), Error) << "no session was heard";
    target.hello();
    target.entry(1);
    for (int n = 0; n < 10; ++n) target.ret(target.entry(2));
    target.stats(false);
    send();
    EXPECT_TRUE(live->status().can_be_saved);
    EXPECT_FALSE(live->status().recording.on) << "no person has asked for it";
    Profile first, second;
    const nsc::Reader begun = saved(first);
    EXPECT_EQ(begun.counters().stream.delivered, 21u);
    EXPECT_EQ(begun.end()->reason, nsc::EndReason::interrupted);
    for (int n = 0; n < 5; ++n) target.ret(target.entry(2));
    target.stats(false);
    send();
    const nsc::Reader later = saved(second);
    EXPECT_EQ(later.counters().stream.delivered, 31u);
    EXPECT_EQ(later.counters().stream.gaps, 0u);
    EXPECT_EQ(later.counters().stream.sessions, 1u);
    EXPECT_TRUE(second.missing().empty());
}

TEST_F(LiveFiles, ATemporaryRecordingEndsWhereItIsFull) {
    open_to_save(20'000);
    target.hello();
    for (std::uint64_t before = 0; live->status().note.empty();) {
        for (int n = 0; n < 1000; ++n) target.ret(target.entry(n % 90, 1 + n * 7919u % 5000));
        send();
        ASSERT_LT(before += 2000, 10'000'000u);
    }
    EXPECT_THAT(live->status().note, testing::HasSubstr("no more is recorded"));
    Profile profile, same;
    const std::uint64_t delivered = saved(profile).counters().stream.delivered;
    EXPECT_GT(delivered, 0u);
    target.ret(target.entry(1));
    send();
    const nsc::Reader again = saved(same);
    EXPECT_EQ(again.counters().stream.delivered, delivered);
    EXPECT_EQ(again.counters().stream.lost, 0u) << "what came later is not missing";
    EXPECT_NE(row_of(live->view(), 1), nullptr);
}

TEST_F(LiveFiles, ALineThatHasEndedIsOpenedAgain) {
    open_to_save();
    EXPECT_NE(live->ask({.words = {"restart"}}).get().status, Exit::ok) << "it is open";
    target.hello();
    target.ret(target.entry(1));
    send();
    EXPECT_FALSE(live->status().can_be_restarted);
    wire.close(true);
    wait([this] { return live->status().state == LineState::over; });
    EXPECT_TRUE(live->status().can_be_restarted);
    const ControlAnswer refused = live->ask({.words = {"restart"}}).get();
    EXPECT_EQ(refused.status, Exit::input);
    EXPECT_EQ(refused.text, "there is no wire");
    EXPECT_EQ(live->status().state, LineState::failed);
    EXPECT_EQ(live->status().sentence, "there is no wire");
    wire.come_back();
    auto first = live->ask({.words = {"restart"}});
    auto second = live->ask({.words = {"restart"}});
    EXPECT_EQ(first.get().status, Exit::ok);
    second.get();  // whatever it says, it is answered
    EXPECT_EQ(wire.opened, 2u);
    EXPECT_EQ(live->status().state, LineState::waiting);
    EXPECT_EQ(live->status().sentence.find("no wire"), std::string::npos);
    target.reset();
    target.hello();
    target.ret(target.entry(1));
    send();
    EXPECT_EQ(live->status().state, LineState::running);
    EXPECT_EQ(row_of(live->view(), 1)->calls, 2u) << "what was known stays";
    Profile profile;
    const nsc::Reader reader = saved(profile);
    EXPECT_EQ(reader.counters().stream.sessions, 2u);
    EXPECT_EQ(reader.counters().stream.delivered, 4u);
    EXPECT_EQ(reader.counters().line.corrupt_frames, 0u);
}

TEST_F(LiveFiles, ARecordingGoesOnWhenItsLineIsOpenedAgain) {
    const std::string file = path("restarted");
    open({.line = {.from = "test:", .image = {}, .memory = {}, .steering = {}},
          .record = file,
          .most_saved_bytes = 1'000'000,
          .may_restart = true},
         false);
    for (int boot = 0;; ++boot) {
        target.hello();
        target.ret(target.entry(1));
        send();
        wire.close(false);
        wait([this] { return live->status().state == LineState::over; });
        target.reset();
        if (boot == 1) break;
        EXPECT_EQ(live->ask({.words = {"restart"}}).get().status, Exit::ok);
    }
    EXPECT_TRUE(live->status().recording.on);
    EXPECT_EQ(live->stop_recording().records, 4u);
    nsc::Reader reader;
    Profile profile;
    or_throw(nsc::read_file(reader, file, profile));
    EXPECT_EQ(reader.counters().stream.sessions, 2u);
    EXPECT_EQ(reader.end()->reason, nsc::EndReason::line_closed);
    std::filesystem::remove(file);
}

TEST_F(LiveFiles, OnlyAServedLineIsOpenedAgain) {
    open();
    wire.close(false);
    wait([this] { return live->status().state == LineState::over; });
    EXPECT_EQ(live->ask({.words = {"restart"}}).get().status, Exit::usage);
    EXPECT_FALSE(live->status().can_be_restarted);
}

TEST_F(LiveFiles, ARecordingThatCannotBeWrittenEndsAndTheRestGoesOn) {
    open();
    EXPECT_THROW(live->start_recording("/dev/full"), Error);
    EXPECT_THROW(live->start_recording("/nowhere/x.nsc"), Error);
    target.hello();
    target.ret(target.entry(1));
    send();
    EXPECT_EQ(row_of(live->view(), 1)->calls, 1u);
    EXPECT_FALSE(live->status().recording.on);
}

}  // namespace
}  // namespace nopscope::host
