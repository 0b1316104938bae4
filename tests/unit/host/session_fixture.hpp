// SPDX-License-Identifier: Apache-2.0
// A line's bytes from a simulated target, and what a SessionReader makes of them.
#pragma once

#include "host-tools/line/stream/session.hpp"
#include "tests/unit/host/play.hpp"
#include "tests/unit/host/prelude.hpp"

namespace nopscope::host::test {

struct Sink : SessionSink {
    void on_session(const HelloInfo&) override { next.clear(); }
    void on_session_end() override { ++ended; }
    void on_trace(unsigned core, const TraceBatch& batch) override {
        // Each record comes once. A gap, and nothing else, leaves some out.
        std::uint64_t& index = next[core];
        EXPECT_TRUE(batch.gap ? batch.first_index >= index : batch.first_index == index) << index;
        index = batch.first_index;
        gaps += batch.gap;
        for (const auto& each : batch.records) records.emplace_back(index++, each.record);
    }
    void on_missing(unsigned, const MissingPart& part) override { missing.push_back(part); }
    void on_clock_pair(const ClockPair& pair) override { pairs.push_back(pair); }
    void on_console(std::string_view text) override { console += text; }
    void on_raw_text(std::string_view text) override { raw += text; }

    std::map<unsigned, std::uint64_t> next;                           // index, by core
    std::vector<std::pair<std::uint64_t, protocol::Record>> records;  // with their indices
    std::vector<MissingPart> missing;
    std::vector<ClockPair> pairs;
    std::string console, raw;
    unsigned ended = 0, gaps = 0;
};

// What a target does, and what is told of it.
struct Course {
    const char* name;
    const char* words;  // of Session::take()
    const char* told;
    std::uint8_t cores = 1;
};
inline void PrintTo(const Course& of, std::ostream* out) { *out << of.words; }

class Session : public testing::Test {
protected:
    // The site of the record with this index, of those that frame() makes.
    static constexpr std::uint32_t site_of(std::uint64_t index) {
        return static_cast<std::uint32_t>(index * 7 % 50);
    }
    void frame(std::uint8_t core = 0) {
        for (unsigned i = 0; i < 20; ++i)
            target.call(site_of(target.next_index(core)), 10 + i % 3, core);
        target.flush();
    }
    // Some frames of each stream of a session without a profile.
    void some_frames() {
        for (std::uint8_t core = 0; core < target.cores; ++core) {
            for (unsigned frames = 0; frames < 3; ++frames) frame(core);
            target.stats(false, core);
        }
        take("text");
        target.frame(Stream::reply, Bytes{1, 0, 0, 0, 0, 0});
    }
    void lose_last_frame() {
        target.frame_ends.pop_back();
        target.bytes.resize(target.frame_ends.back());
    }
    // Between frames.
    void say(const std::string& text) {
        target.raw(text);
        said += text;
    }
    void forget() {
        target.bytes.clear();
        printed.clear();
    }
    // The bytes from there come again.
    void repeat(std::size_t from) {
        const Bytes again(target.bytes.begin() + static_cast<long>(from), target.bytes.end());
        target.bytes.insert(target.bytes.end(), again.begin(), again.end());
        target.frame_ends.push_back(target.bytes.size());
    }
    void take(const std::string& course) {
        std::istringstream words(course);
        for (std::string word; words >> word;) take_word(word);
    }
    void take_word(const std::string& word) {
        const std::size_t digits = std::min(word.find_first_of("0123456789"), word.size());
        const auto number = static_cast<std::uint32_t>(std::atoll(word.c_str() + digits));
        Bytes& bytes = target.bytes;
        const std::map<std::string, std::function<void()>> words{
            {"calls", [&] { play("0( ) 1( ) 2( ) 3( )"); }},
            {"frame", [&] { frame(); }},
            {"text", [&] { target.console(printed.emplace_back("text\n")); }},
            {"some", [&] { some_frames(); }},
            {"untold", [&] { target.skip_sequence(Stream::console); }},
            // The last frame is lost, comes twice, or is damaged.
            {"lost", [&] { lose_last_frame(); }},
            {"twice", [&] { repeat(target.frame_ends.at(target.frame_ends.size() - 2)); }},
            {"damage", [&] { bytes.at(target.frame_ends.back() - 3) ^= 0x10; }},
            {"again", [&] { repeat(0); }},   // all so far comes twice,
            {"unheard", [&] { forget(); }},  // or is not heard
            {"cut", [&] { bytes.resize(bytes.size() - number); }},
            {"zero", [&] { bytes.push_back(0); }},
            {"lines",
             [&] { say("boot: nopscope board=virt level=1\r\nboot: baud=115200\r\n!\n"); }},
            {"panic", [&] { say("panic\n"); }},
            {"recovered", [&] { target.recovered = true; }},
            {"fresh", [&] { target.recovered = false; }},
            {"other", [&] { target.build_id = "another"; }},
            {"warm", [&] { target.warm_reset(number); }},  // the session continues
        };
        const auto known = words.find(word.substr(0, digits));
        known != words.end() ? known->second() : static_cast<void>(play(word));
    }
    // Reads to the end of the line.
    virtual void read() {
        reader.feed(target.bytes);
        reader.finish();
        counters = reader.counters();
        EXPECT_EQ(counters.delivered, sink.records.size());
        EXPECT_EQ(counters.sessions, sink.ended);
        EXPECT_LE(sink.gaps, counters.gaps);
        EXPECT_EQ(counters.generated, counters.delivered + counters.dropped + counters.lost +
                                          counters.overwritten + counters.filtered);
        EXPECT_EQ(sink.raw, said);
        EXPECT_TRUE(counters.lost_frames != 0 || joined(printed, "") == sink.console);
    }
    // Reads what the target has made since the last time.
    StreamCounters counted() {
        reader.feed(std::exchange(target.bytes, {}));
        return reader.counters();
    }
    // The counters that are not zero. Without those that others add up to, and of one session that
    // is complete: "delivered 8, lost 2, gaps 1".
    std::string told() const {
        std::istringstream names(
            "generated delivered dropped overwritten aggregated filtered lost gaps lost_frames "
            "duplicate_frames repeated_records undecoded_frames malformed_frames unknown_frames "
            "frames_without_hello other_image_sessions inconsistent shadow_stack_full off_stack "
            "console_dropped sessions unfinished_sessions commands_refused recovered_sessions "
            "stray_returns generated_at_least undeferred bytes frames corrupt_frames raw_bytes "
            "stray_zeros cut_bytes lead_bytes");
        std::string text, name;
        const auto put = [&](std::uint64_t value) {
            names >> name;
            const std::uint64_t usual = name == "sessions" ? 1 : 0;
            if (name != "generated" && name != "bytes" && name != "frames" && value != usual)
                text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
        };
        for (const auto field : stream_fields) put(counters.*field);
        EXPECT_EQ(name, "undeferred");
        for (const auto field : line_fields) put(reader.line().*field);
        EXPECT_EQ(name, "lead_bytes");
        return text + (counters.complete ? "" : ", not complete");
    }
    std::string told_of(const std::string& course) {
        take(course);
        read();
        return told();
    }
    void stats(const protocol::Stats& of) {
        target.frame(protocol::Stream::stats, 0, protocol::write_stats(of, target.payload()));
    }

    TargetStream target;
    Play<TargetStream> play{target};
    std::string said;                  // between frames
    std::vector<std::string> printed;  // on the console
    Sink sink;
    SessionReader reader{sink};
    StreamCounters counters;
};

template <typename Fixture>
class CourseOf : public Fixture, public testing::WithParamInterface<Course> {
protected:
    void expect_told() {
        this->target.cores = this->GetParam().cores;
        EXPECT_EQ(this->told_of(this->GetParam().words), this->GetParam().told);
    }
};
inline constexpr auto name_of_course = [](const auto& info) {
    return std::string(info.param.name);
};

}  // namespace nopscope::host::test
