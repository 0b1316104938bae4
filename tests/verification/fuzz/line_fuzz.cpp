// SPDX-License-Identifier: Apache-2.0
// Deframe, decode, aggregate, report: for any bytes, nothing crashes and the sums hold.
// Random bytes seldom pass a CRC. So with an odd first byte the rest describes frames (frames.hpp).
#include <span>

#include "host-tools/base/or_throw.hpp"
#include "host-tools/figures/report/make_report.hpp"
#include "host-tools/views/json/report.hpp"
#include "host-tools/views/text/graph.hpp"
#include "host-tools/views/text/report.hpp"
#include "tests/unit/host/line_profile.hpp"
#include "tests/verification/fuzz/frames.hpp"
#include "tests/verification/fuzz/must.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace nopscope;
    using namespace nopscope::host;
    if (size == 0) return 0;
    const auto line = fuzz::line_of((data[0] & 1) != 0, {data + 1, size - 1});
    test::LineProfile profile;
    // In two pieces, so that a chunk spans both.
    const std::span bytes(line);
    profile.feed(bytes.first(bytes.size() / 2));
    profile.feed(bytes.subspan(bytes.size() / 2));
    profile.finish();

    const Integrity integrity = integrity_of(profile, profile.counters(), nullptr);
    std::uint64_t accounted = 0;
    for (const char* where :
         {"delivered", "dropped", "overwritten", "aggregated", "filtered", "lost"})
        accounted += integrity.value(where);
    must(integrity.value("generated") == accounted || integrity.value("inconsistent_cores") != 0);
    std::uint64_t calls = 0;
    for (const FunctionTimes& of : profile.times()) {
        must(of.open + of.lost + of.timed <= of.calls);
        calls += of.calls;
    }
    must(calls <= integrity.value("delivered"));
    try {
        Report report = or_throw(make_report(profile, profile.counters(), nullptr));
        sort_rows(report.functions, SortKey::self, 0);
        must(!text_report(report).empty() && !json_report(report).empty());
        must(!csv_report(report).empty() && !text_graph(report, profile, {}).empty());
        must(!json_graph(report, profile, {.depth = 9}).empty());
    } catch (const Error&) {
    }
    return 0;
}
