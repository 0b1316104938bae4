// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/top/meters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "host-tools/base/text.hpp"
#include "host-tools/views/text/head.hpp"
#include "host-tools/views/top/text.hpp"

namespace nopscope::host::top {
namespace {

Style style_of(LineState state) {
    if (state == LineState::running) return Style::good;
    return state == LineState::waiting || state == LineState::finished ? Style::warn : Style::bad;
}

// "demo on virt", or the line's URI.
std::string who(const LiveView& view) {
    const LiveStatus& status = view.status;
    if (!status.hello) return for_cell(status.from);
    std::string text = for_cell(status.hello->image);
    if (!status.hello->board.empty()) text += " on " + for_cell(status.hello->board);
    return text + "  " + for_cell(status.from);
}

FrameLine title(const Ui& ui, const LiveView& view) {
    const LiveStatus& status = view.status;
    std::string state = name_of(status.state);
    if (status.state == LineState::lost) state = "line lost, trying again";
    FrameLine line{{"nopscope  ", Style::bold}, {state, style_of(status.state)}};
    if (ui.paused) line.push_back({"  held", Style::warn});
    const auto count = [&](std::uint64_t times, const char* what, const char* plural) {
        if (times != 0)
            line.push_back(
                {fmt::format("  {} {}{}", times, what, times == 1 ? "" : plural), Style::warn});
    };
    count(status.resets, "reset", "s");
    count(status.losses, "line loss", "es");
    line.push_back({"  " + who(view), Style::plain});
    return line;
}

void add(FrameLine& to, const FrameLine& more) { to.insert(to.end(), more.begin(), more.end()); }

void add_cores(Frame& frame, const LiveView& view, const Rates& rates, std::size_t width) {
    const auto& cores = view.status.cores;
    const std::size_t beside = std::clamp<std::size_t>(width / 40, 1, 4);
    const std::size_t each = width / beside;
    for (std::size_t first = 0; first < cores.size(); first += beside) {
        FrameLine line;
        for (std::size_t i = first; i < std::min(cores.size(), first + beside); ++i) {
            const bool known = i < rates.cores.size();
            const std::string label = fmt::format("core {:<3}", cores[i].number);
            const std::string events =
                fmt::format(" {:>5} records/s  ", short_count(known ? rates.cores[i].records : 0));
            const std::size_t fixed = label.size() + events.size();
            line.push_back({label, Style::plain});
            add(line,
                meter(known ? rates.cores[i].busy : std::nullopt, each > fixed ? each - fixed : 0));
            line.push_back({events, Style::plain});
        }
        frame.lines.push_back(std::move(line));
    }
}

FrameLine line_meter(const LiveView& view, const Rates& rates, std::size_t width) {
    const StreamCounters& stream = view.status.stream;
    FrameLine line{{"line    ", Style::plain}};
    constexpr std::size_t others = 71;  // columns besides the meter, while all counters are 0
    add(line,
        meter(rates.line_share, std::clamp<std::size_t>(width - std::min(width, others), 9, 30)));
    line.push_back({fmt::format(" {:>5}B/s {:>5} records/s", short_count(rates.bytes),
                                short_count(rates.records)),
                    Style::plain});
    const auto counter = [&](const char* name, std::uint64_t value) {
        line.push_back({fmt::format("  {} {}", name, short_count(value)),
                        value != 0 ? Style::bad : Style::plain});
    };
    counter("dropped", stream.dropped);
    counter("lost", stream.lost);
    counter("gaps", stream.gaps);
    counter("corrupt", view.status.line.corrupt_frames);
    return line;
}

// "only core 1  since 12:03:04 (12 s ago: trace luaV_*)"; nothing: all, since `top` was started.
std::optional<FrameLine> figures_line(const LiveStatus& status) {
    const FiguresBegin& begin = status.begin;
    if (status.part.empty() && begin.request.empty()) return std::nullopt;
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(status.at - begin.at);
    FrameLine line{{"figures ", Style::plain}};
    if (!status.part.empty()) line.push_back({"only " + status.part + "  ", Style::warn});
    line.push_back(
        {fmt::format("since {} ({} s ago", clock_text(begin), age.count()), Style::plain});
    if (!begin.request.empty()) line.push_back({": " + for_cell(begin.request), Style::plain});
    line.push_back({")", Style::plain});
    return line;
}

FrameLine recording_line(const SideRecording& recording) {
    FrameLine line;
    if (recording.on) {
        line.push_back({"recording  ", Style::good});
        line.push_back({fmt::format("{}  {} records", for_cell(recording.path),
                                    with_commas(recording.records)),
                        Style::plain});
    } else {
        line.push_back({"the recording has ended: " + for_cell(recording.error), Style::bad});
    }
    return line;
}

}  // namespace

FrameLine meter(std::optional<double> share, std::size_t width) {
    const std::string text = share ? fmt::format("{:.0f} %", *share * 100) : "- ";
    if (width < text.size() + 2) return {{right(text, width), Style::plain}};
    const std::size_t inside = width - 2;
    const double full = std::clamp(share.value_or(0), 0.0, 1.0);
    const auto bars = static_cast<std::size_t>(std::lround(full * static_cast<double>(inside)));
    std::string bar(std::min(bars, inside - text.size()), '|');
    const std::string rest = right(text, inside - bar.size());
    return {{"[", Style::plain},
            {std::move(bar), full < 0.6   ? Style::good
                             : full < 0.9 ? Style::warn
                                          : Style::bad},
            {rest + "]", Style::plain}};
}

void add_meters(Frame& frame, const Ui& ui, const LiveView& view, const Rates& rates,
                std::size_t width, std::size_t rows) {
    constexpr std::size_t indent = 8;
    const auto add_line = [&](const FrameLine& line) {
        for (FrameLine& each : wrapped(line, width, indent)) frame.lines.push_back(std::move(each));
    };
    const LiveStatus& status = view.status;
    add_line(title(ui, view));
    add_cores(frame, view, rates, width);
    add_line(line_meter(view, rates, width));
    if (const auto figures = figures_line(status)) add_line(*figures);
    if (status.recording.on || !status.recording.error.empty())
        add_line(recording_line(status.recording));
    if (view.report && view.report->target.known) {
        FrameLine line{{"target  ", Style::plain}, {mode_text(*view.report), Style::plain}};
        for (const HeadLine& head : head_lines(*view.report)) {
            line.push_back({fmt::format("  {}: {}", head.name, head.text),
                            head.spoils ? Style::warn : Style::plain});
        }
        add_line(line);
    }
    std::string loss = view.report ? loss_line(*view.report) : std::string();
    if (!loss.empty()) loss.pop_back();  // its newline
    if (!loss.empty()) add_line({{std::move(loss), Style::bad}});
    for (const std::string& sentence : {status.sentence, status.note}) {
        if (!sentence.empty()) add_line({{for_cell(sentence), style_of(status.state)}});
    }
    if (frame.lines.size() > rows) frame.lines.resize(std::max<std::size_t>(rows, 1));
}

}  // namespace nopscope::host::top
