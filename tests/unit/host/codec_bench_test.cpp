// SPDX-License-Identifier: Apache-2.0
// The codec's benchmark: traces of any shape, and the program itself.
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::codec_bench_test {

Bytes ev13(std::initializer_list<CallEvent> events) {
    Bytes result;
    for (const CallEvent& each : events) {
        result.resize(result.size() + ev13_bytes);
        protocol::Writer out(result.data() + result.size() - ev13_bytes);
        out.fixed(each.type);
        out.fixed(each.id);
        out.fixed(each.ticks);
    }
    return result;
}

TEST(Ev13, UnbalancedTracesRoundTrip) {
    const Bytes bytes = ev13(
        {{1, 7, 100}, {0, 1, 200}, {0, 2, 300}, {1, 8, 350}, {2, 1, 400}, {1, 9, 90}, {0, 5, 500}});
    Ev13 trace(bytes, 1'000'000'000);
    EXPECT_EQ(trace.events(), 7u);
    EXPECT_EQ(trace.records(), 10u);  // 7, 8 and 9 began before the trace
    LineEncoder encoder;
    Records all;
    for (auto records = trace.next(); !records.empty(); records = trace.next()) {
        encoder.feed(records);
        all.insert(all.end(), records.begin(), records.end());
    }
    encoder.finish();
    EXPECT_EQ(all[0].record.payload(), 9u);
    EXPECT_EQ(all[2].record.payload(), 7u);
    Bytes line = encoder.line();
    LineDecoder decoder(line);
    EXPECT_TRUE(trace.check(decoder.next(100)));
    EXPECT_TRUE(trace.all_checked());

    // The comparison finds each difference.
    for (std::size_t i = 0; i < all.size(); ++i) {
        Ev13 again(bytes, 1'000'000'000);
        Records wrong = all;
        wrong[i].record.word ^= i % 2 == 0 ? 1 : std::uint64_t{1} << protocol::payload_shift;
        EXPECT_FALSE(again.check(wrong)) << i;
    }
}

// The program's output, and its errors.
TEST(CodecBench, PrintsItsMeasurements) {
    const std::string file = testing::TempDir() + "codec_test.ev13";
    const Records records = CallTrace(5, 120, 0.3).records(50000);
    std::vector<std::uint32_t> ids;
    Bytes bytes;
    for (const StampedRecord& each : records) {
        const bool entry = each.record.kind() == Kind::entry;
        ids.push_back(entry ? each.record.payload() : ids[each.record.entry_index()]);
        const auto type = static_cast<std::uint8_t>(entry ? 0 : 1);
        const Bytes one = ev13({{type, ids.back(), each.clock * 20}});
        bytes.insert(bytes.end(), one.begin(), one.end());
    }
    const auto run = [&](std::size_t size) {
        test::write_file(file, std::span(bytes).first(size));
        const std::string command =
            std::string(NOPSCOPE_CODEC_BENCH) + " --format json " + file + " 2>&1";
        std::FILE* pipe = popen(command.c_str(), "r");
        std::string output(10000, '\0');
        output.resize(std::fread(output.data(), 1, output.size(), pipe));
        return std::pair{WEXITSTATUS(pclose(pipe)), output};
    };
    const auto [status, output] = run(bytes.size());
    ASSERT_EQ(status, 0) << output;
    const auto json = nlohmann::json::parse(output);
    EXPECT_EQ(json["events"], records.size());
    EXPECT_TRUE(json["exact"]);
    EXPECT_LT(json["bytes_per_event"], 0.5);
    EXPECT_GT(json["encode_meps"], 0);
    EXPECT_GT(json["decode_meps"], 0);
    // The bytes also contain the coder's loss and the frames.
    const double bits = json["identity_bits"].get<double>() + json["time_bits"].get<double>();
    EXPECT_GT(json["bytes_per_event"].get<double>() * 8, bits);
    EXPECT_LT(json["bytes_per_event"].get<double>() * 8, bits * 1.1);
    EXPECT_EQ(run(bytes.size() - 1).first, 3);
    bytes[0] = 3;
    EXPECT_EQ(run(bytes.size()).first, 3);
    std::remove(file.c_str());
}

}  // namespace nopscope::host::test::codec_bench_test
