// SPDX-License-Identifier: Apache-2.0
// A copy of a profile that is ended equals that of a session that ends there.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::profile_copy_test {

struct Read {
    Profile profile;
    SessionReader reader{profile};

    Read() { profile.count_durations(); }
};

// Every text that shows a profile.
std::string shown(const Profile& profile, const StreamCounters& stream, const LineCounters& line) {
    if (!profile.hello()) return {};
    const Report report =
        make_report(profile, {.file = {}, .line = line, .stream = stream}, nullptr, true);
    return json_report(report) + json_graph(report, profile, {}) + view_json(report, profile, "t");
}

std::string of_copy(const Read& from) {
    Profile copy(from.profile);
    copy.on_session_end();
    return shown(copy, from.reader.counters(), from.reader.line());
}

// Without the records that a reader reports missing at the end of a session.
std::string of_prefix(std::span<const std::uint8_t> bytes) {
    Read read;
    read.reader.feed(bytes);
    const StreamCounters stream = read.reader.counters();
    const LineCounters line = read.reader.line();
    if (read.reader.has_session()) read.profile.on_session_end();
    return shown(read.profile, stream, line);
}

void expect_copies_of(const Bytes& bytes, std::size_t step) {
    Read read;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
        const std::size_t end = std::min(bytes.size(), at + step);
        read.reader.feed({bytes.data() + at, end - at});
        if (!read.reader.has_session()) continue;
        ASSERT_EQ(of_copy(read), of_prefix({bytes.data(), end})) << "after " << end << " bytes";
    }
    Read undisturbed;
    undisturbed.reader.feed(bytes);
    undisturbed.reader.finish();
    read.reader.finish();
    EXPECT_EQ(shown(read.profile, read.reader.counters(), read.reader.line()),
              shown(undisturbed.profile, undisturbed.reader.counters(), undisturbed.reader.line()));
}

TEST(ProfileCopy, OfAGoldenLineAtAnyTime) {
    for (const char* name : {"stream.bin", "contexts.bin", "profile.bin", "captured.bin"}) {
        SCOPED_TRACE(name);
        const Bytes bytes = read_whole_file(std::string(NOPSCOPE_GOLDEN "/") + name);
        expect_copies_of(bytes, std::max<std::size_t>(bytes.size() / 50, 1));
    }
}

// Nested calls in several contexts and cores, gaps, the tracer's time, and duration records.
TEST(ProfileCopy, OfAnyOpenCalls) {
    TargetStream target;
    target.cores = 2;
    target.records_per_frame = 7;
    target.hello();
    std::mt19937 random(11);
    std::vector<std::uint64_t> open[2];
    for (int n = 0; n < 3000; ++n) {
        const auto core = static_cast<std::uint8_t>(random() % 2);
        auto& stack = open[core];
        switch (random() % 12) {
        case 0: target.extended(Extended::tracer_begin, 3, core); break;
        case 1: target.extended(Extended::tracer_end, 3, core); break;
        case 2:
            if (random() % 20 == 0) target.lose();
            break;
        case 3:
            if (core == 0) target.argument(Extended::context, random() % 3);
            break;
        case 4:
            target.with_data(Extended::duration, random() % 4, {random() % 30, random() % 200},
                             core);
            break;
        case 5:
            if (core == 0) target.argument(Extended::marker, random() % 9);
            break;
        default:
            if (stack.size() < 40 && random() % 2 == 0) {
                stack.push_back(target.entry(random() % 30, 10, core));
            } else if (!stack.empty()) {
                if (random() % 10 == 0 && stack.size() > 1)
                    stack.pop_back();  // left without a return
                target.ret(stack.back(), 10, core);
                stack.pop_back();
            }
        }
        if (n == 1500) {
            target.stats(false);
            target.reset();
            target.hello();
            open[0].clear();
            open[1].clear();
        }
    }
    target.flush();
    expect_copies_of(target.bytes, 997);
}

}  // namespace nopscope::host::test::profile_copy_test
