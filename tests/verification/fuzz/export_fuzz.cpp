// SPDX-License-Identifier: Apache-2.0
// Exports, the page and the answers to questions, for any recording and any names of functions.
// Nothing crashes, JSON is valid JSON, and a page contains no script but its own.
//     flags u8    bit 0: the rest describes frames (frames.hpp), else it is a line;
//                 bit 1: the tracer's time is cut out
//     format u8   modulo: one of export_formats(), or the page
//     names u8    bytes of functions' names that follow, one after each line feed
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>

#include "host-tools/base/or_throw.hpp"
#include "host-tools/figures/profile/profile.hpp"
#include "host-tools/figures/report/make_report.hpp"
#include "host-tools/views/export/formats.hpp"
#include "host-tools/views/page/html.hpp"
#include "tests/unit/host/line_profile.hpp"
#include "tests/verification/fuzz/frames.hpp"
#include "tests/verification/fuzz/must.hpp"

namespace {

using namespace nopscope;
using namespace nopscope::host;
using Bytes = std::span<const std::uint8_t>;

// Gives names to the sites of whatever image was recorded.
void name_sites(Symbols& symbols, const HelloInfo& hello) {
    symbols.build_id = hello.build_id;
    symbols.site_table_crc = hello.site_table_crc;
    std::uint64_t address = hello.text_base - hello.load_bias;
    for (Function& site : symbols.sites) site.address = address += 8;
    std::sort(symbols.sites.begin(), symbols.sites.end(),
              [](const Function& a, const Function& b) { return a.address < b.address; });
}

struct Named final : Profile {
    Named(EventSink& sink, Symbols& symbols, TimeAxis axis = TimeAxis::wall)
        : feed_(
              sink, [&symbols] { return &symbols; }, "fuzz", axis),
          symbols_(symbols) {
        tell(feed_);
    }
    void on_session(const HelloInfo& hello) override {
        name_sites(symbols_, hello);
        Profile::on_session(hello);
    }

private:
    CallFeed feed_;
    Symbols& symbols_;
};

void feed(SessionSink& sink, Bytes line) {
    SessionReader reader(sink);
    reader.feed(line.first(line.size() / 2));
    reader.feed(line.subspan(line.size() / 2));
    reader.finish();
}

std::size_t times(std::string_view text, std::string_view what) {
    std::size_t count = 0;
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
    return count;
}

void page(Bytes line, Symbols& symbols) {
    test::LineProfile profile;
    profile.count_durations();
    profile.feed(line);
    profile.finish();
    Timeline timeline;
    Named stream(timeline, symbols);
    feed(stream, line);
    if (!profile.hello()) return;
    name_sites(symbols, *profile.hello());
    const Report report = or_throw(make_report(profile, profile.counters(), &symbols));
    const std::string view =
        view_json(report, profile, "<title>", 100, {.timeline = &timeline, .code = nullptr});
    must(nlohmann::json::accept(view));
    const std::string_view empty = page_template();
    const std::string full = html_page(empty, view);
    must(times(full, "</script") == times(empty, "</script") &&
         times(full, "<!--") <= times(empty, "<!--"));
}

void exported(const ExportFormat& format, Bytes line, Symbols& symbols, TimeAxis axis) {
    static const std::filesystem::path name =
        std::filesystem::temp_directory_path() / ("nopscope-fuzz-" + std::to_string(getpid()));
    const Output output(name, format.kind);
    if (format.stream != nullptr) {
        const auto sink = format.stream(output, axis);
        Named stream(*sink, symbols, axis);
        feed(stream, line);
        sink->finish();
        (void)sink->left_out();
    } else {
        test::LineProfile profile;
        profile.feed(line);
        profile.finish();
        if (!profile.hello()) return;
        name_sites(symbols, *profile.hello());
        const Report report = or_throw(make_report(profile, profile.counters(), &symbols));
        (void)format.aggregate(output, {report, profile, line.size() % 2 == 0});
    }
    if (format.name == "chrome" || format.name == "speedscope")
        must(nlohmann::json::accept(std::ifstream(output.path())));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 3) return 0;
    Bytes rest(data + 3, size - 3);
    const std::size_t names = std::min<std::size_t>(data[2], rest.size());
    Symbols symbols;
    symbols.origin = "fuzz";
    Function site;
    site.size = 8;
    symbols.sites.push_back(site);
    for (const std::uint8_t byte : rest.first(names))
        if (byte == '\n')
            symbols.sites.push_back(site);
        else
            symbols.sites.back().name += static_cast<char>(byte);
    rest = rest.subspan(names);
    const std::vector<std::uint8_t> line = fuzz::line_of((data[0] & 1) != 0, rest);
    const auto formats = export_formats();
    const std::size_t chosen = data[1] % (formats.size() + 1);
    try {
        if (chosen == formats.size())
            page(line, symbols);
        else
            exported(formats[chosen], line, symbols,
                     (data[0] & 2) != 0 ? TimeAxis::without_tracer : TimeAxis::wall);
    } catch (const Error&) {
    }
    return 0;
}
