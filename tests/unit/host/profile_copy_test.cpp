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
        expect_copies_of(bytes, std::max<std::size_t>(bytes.size() / 25, 1));
    }
}

// Nested calls in several contexts and cores, gaps, the tracer's time, and duration records.
TEST(ProfileCopy, OfAnyOpenCalls) { expect_copies_of(busy_target(300).bytes, 1999); }

}  // namespace nopscope::host::test::profile_copy_test
