// SPDX-License-Identifier: Apache-2.0
#include "host-tools/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"

namespace nopscope {
namespace {

std::uint64_t base_of(const HelloInfo& hello) { return hello.text_base - hello.load_bias; }
const Function* function_at(std::uint32_t offset, const HelloInfo& hello, const Symbols* symbols) {
    return symbols != nullptr ? symbols->find(base_of(hello) + offset) : nullptr;
}
bool has_no_landing_pad(const Function* function) { return function != nullptr && !function->landing_pad; }

template <typename Row>
Row named_row(std::uint32_t offset, const HelloInfo& hello, const Symbols* symbols) {
    Row row;
    if (is_interrupt(offset)) {
        row.interrupt = interrupt_of(offset);
        row.name = interrupt_name(*row.interrupt);
        return row;
    }
    row.address = base_of(hello) + offset;
    const Function* function = function_at(offset, hello, symbols);
    if (function != nullptr) {
        row.name = function->name;
        row.file = function->file;
        row.line = function->line;
    } else {
        row.name = hex_address(row.address);
    }
    return row;
}

void add_masked(Report& report, const Profile& profile, const HelloInfo& hello, const Symbols* symbols) {
    for (const Masked& masked : profile.masked()) {
        MaskedRow row;
        row.address = base_of(hello) + static_cast<std::uint64_t>(masked.where);
        // What was called there has masked them: the call is before.
        const Function* const around = symbols != nullptr ? symbols->around(row.address - 4) : nullptr;
        row.name = around != nullptr ? around->name : hex_address(row.address);
        if (around != nullptr) {
            row.file = around->file;
            row.line = around->line;
        }
        row.at_ns = ticks_to_ns(masked.ticks, hello.clock_hz);
        row.length_ns = ticks_to_ns(masked.length, hello.clock_hz);
        row.core = masked.core;
        row.session = masked.session;
        report.masked.push_back(std::move(row));
    }
}

void add_times(FunctionRow& row, const FunctionTimes& times, const CorrectedTimes& corrected,
               std::uint64_t clock_hz) {
    row.calls = times.calls;
    row.total_ns = ticks_to_ns(times.total_ticks, clock_hz);
    row.self_ns = ticks_to_ns(times.self_ticks, clock_hz);
    row.corrected_total_ns = fixed_to_ns(corrected.total, clock_hz);
    row.corrected_self_ns = fixed_to_ns(corrected.self, clock_hz);
    if (times.timed != 0) {
        row.min_ns = ticks_to_ns(times.min_ticks, clock_hz);
        row.max_ns = ticks_to_ns(times.max_ticks, clock_hz);
    }
    row.open = times.open;
    row.lost = times.lost;
    row.unwound = times.unwound;
    row.incomplete = times.incomplete;
}

std::uint64_t positive(std::int64_t ticks) {
    return ticks < 0 ? 0 : static_cast<std::uint64_t>(ticks);
}

template <typename Row>
void add_shares(std::vector<Row>& rows, bool raw) {
    double all = 0;
    for (const Row& row : rows) all += static_cast<double>(self_of(row, raw));
    for (Row& row : rows) {
        if (all > 0) row.share = static_cast<double>(self_of(row, raw)) / all;
    }
}

void add_profile(Report& report, const TargetProfile& profile, const HelloInfo& hello,
                 const Symbols* symbols) {
    const auto ns = [&](std::uint64_t ticks) { return ticks_to_ns(ticks, hello.clock_hz); };
    report.read_out = profile.last_read_out();
    for (const auto& [offset, times] : profile.functions()) {
        auto row = named_row<ProfileRow>(offset, hello, symbols);
        row.calls = times.calls;
        row.total_ns = ns(times.total_ticks);
        row.self_ns = ns(positive(times.self_ticks));
        const CorrectedTimes corrected =
            correct(times, hello, has_no_landing_pad(function_at(offset, hello, symbols)));
        row.corrected_total_ns = fixed_to_ns(corrected.total, hello.clock_hz);
        row.corrected_self_ns = fixed_to_ns(corrected.self, hello.clock_hz);
        if (row.self_ns > row.corrected_self_ns) report.subtracted_ns += row.self_ns - row.corrected_self_ns;
        row.min_ns = ns(times.min_ticks);
        if (times.calls != 0) row.avg_ns = row.total_ns / times.calls;
        row.p50_ns = ns(times.percentile(50));
        row.p99_ns = ns(times.percentile(99));
        row.max_ns = ns(times.max_ticks);
        row.bins = times.bins;
        report.profile.push_back(std::move(row));
    }
    add_shares(report.profile, report.raw);
}

// Of a target in adaptive mode the trace has some of a function's calls, and the profile the others.
void join_profile(Report& report) {
    std::unordered_map<std::uint64_t, std::size_t> at;
    for (std::size_t i = 0; i < report.functions.size(); ++i) at[report.functions[i].address] = i;
    for (const ProfileRow& from : report.profile) {
        if (from.calls == 0) continue;
        const auto [found, is_new] = at.try_emplace(from.address, report.functions.size());
        if (is_new) {
            report.functions.emplace_back();
            static_cast<FunctionPlace&>(report.functions.back()) = from;
        }
        FunctionRow& row = report.functions[found->second];
        row.calls += from.calls;
        row.profiled = from.calls;
        row.total_ns += from.total_ns;
        row.self_ns += from.self_ns;
        row.corrected_total_ns += from.corrected_total_ns;
        row.corrected_self_ns += from.corrected_self_ns;
        row.min_ns = std::min(row.min_ns.value_or(from.min_ns), from.min_ns);
        row.max_ns = std::max(row.max_ns.value_or(from.max_ns), from.max_ns);
    }
    add_shares(report.functions, report.raw);
}

std::uint64_t max_of(const FunctionRow& row) { return row.max_ns.value_or(0); }
std::uint64_t max_of(const ProfileRow& row) { return row.max_ns; }

template <typename Row>
void sort_by(std::vector<Row>& rows, SortKey key, std::size_t top, bool raw) {
    const auto value = [key, raw](const Row& row) {
        switch (key) {
        case SortKey::self:
            return self_of(row, raw);
        case SortKey::total:
            return total_of(row, raw);
        case SortKey::calls:
            return row.calls;
        case SortKey::max:
            return max_of(row);
        }
        return self_of(row, raw);
    };
    std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
        if (value(a) != value(b)) return value(a) > value(b);
        if (a.calls != b.calls) return a.calls > b.calls;
        if (a.name != b.name) return a.name < b.name;
        return a.address < b.address;
    });
    if (top != 0 && rows.size() > top) rows.resize(top);
}

}  // namespace

std::uint64_t ticks_to_ns(std::uint64_t ticks, std::uint64_t clock_hz) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((Wide{ticks} * 1'000'000'000u + clock_hz / 2) / clock_hz);
}

std::uint64_t fixed_to_ns(FixedTicks ticks, std::uint64_t clock_hz) {
    const FixedTicks per_second = FixedTicks{clock_hz} * wire::overhead_unit;
    // Whole seconds apart: a hostile clock's ticks times 10^9 would not fit.
    return static_cast<std::uint64_t>(ticks / per_second * 1'000'000'000u +
                                      (ticks % per_second * 1'000'000'000u + per_second / 2) / per_second);
}

double overhead_ns(std::int32_t fixed, std::uint64_t clock_hz) {
    return fixed * 1e9 / (static_cast<double>(clock_hz) * wire::overhead_unit);
}
const char* clock_name(wire::Clock clock) {
    switch (clock) {
    case wire::Clock::cntvct:
        return "cntvct";
    case wire::Clock::pmccntr:
        return "pmccntr";
    }
    return "unknown";
}
// Addresses are even, interrupts' offsets odd.
std::uint64_t key_of(const FunctionPlace& place) {
    return place.interrupt ? interrupt_offset(*place.interrupt) : place.address;
}
bool Report::has_calls() const {
    return std::any_of(functions.begin(), functions.end(), [](const FunctionRow& row) { return !row.interrupt; });
}
std::string interrupt_name(std::uint32_t number) { return fmt::format("(interrupt {})", number); }
const char* recorder_name(std::size_t number) {
    static constexpr const char* names[wire::overhead_count] = {"function", "graph", "profile", "duration",
                                                                "sampled"};
    return names[number];
}

std::string no_report_sentence(const nsc::Counters& counters) {
    const LineCounters& line = counters.line;
    if (const auto version = counters.stream.refused_version; version != 0) {
        return fmt::format("the target speaks trace format {}, and this nopscope reads {}", version,
                           wire::format_version);
    }
    if (line.bytes == 0) return counters.file.is_raw ? "the file is empty" : "nothing was recorded";
    if (line.frames == 0) return "there is no trace in it: not one frame could be read";
    return "no hello could be read, so the records in it mean nothing";
}

Report make_report(const Profile& profile, const nsc::Counters& counters, const Symbols* symbols,
                   bool raw) {
    const StreamCounters& stream = counters.stream;
    if (!profile.hello()) throw Error(no_report_sentence(counters));
    const HelloInfo& hello = *profile.hello();
    if (symbols != nullptr) {
        if (const auto sentence = mismatch(*symbols, hello)) throw Error(*sentence);
    }
    Report report;
    report.build_id = to_hex(
        {reinterpret_cast<const std::uint8_t*>(hello.build_id.data()), hello.build_id.size()});
    report.image = hello.image;
    report.board = hello.board;
    report.clock_hz = hello.clock_hz;
    report.clock = hello.clock;
    report.calibrated = hello.calibrated;
    report.overheads = hello.overheads;
    report.landing_pad = hello.landing_pad;
    report.raw = raw;
    report.cores = hello.cores;
    report.lossless = hello.lossless;
    report.flight = hello.flight;
    report.duration_ns = ticks_to_ns(profile.duration_ticks(), hello.clock_hz);
    report.tracer_ns = ticks_to_ns(profile.tracer_ticks(), hello.clock_hz);
    report.sessions = stream.sessions;
    report.integrity = integrity_of(profile, counters, symbols);

    for (const Missing& missing : profile.missing()) {
        report.missing.push_back({.session = missing.session,
                                  .core = missing.core,
                                  .from_ns = ticks_to_ns(missing.part.from, hello.clock_hz),
                                  .to_ns = ticks_to_ns(missing.part.to, hello.clock_hz),
                                  .lost = missing.part.lost,
                                  .overwritten = missing.part.overwritten,
                                  .dropped = missing.part.dropped});
    }

    report.contexts = profile.contexts();
    const std::vector<FunctionTimes> times = profile.times();
    CodeFacts code{.local = std::vector<bool>(times.size()), .tail = {}};
    std::vector<bool>& local = code.local;
    for (std::uint32_t number = FunctionTable::none + 1; number < times.size(); ++number) {
        local[number] =
            has_no_landing_pad(function_at(profile.functions().offset(number), hello, symbols));
    }
    if (symbols != nullptr) {
        code.tail = [&](std::uint32_t caller, std::uint32_t callee) {
            const std::uint32_t from = profile.functions().offset(caller), to = profile.functions().offset(callee);
            if (is_interrupt(from) || is_interrupt(to)) return Tail::never;
            return symbols->tail(base_of(hello) + from, base_of(hello) + to);
        };
    }
    Correction correction = correct(profile, times, code);
    report.subtracted_ns = fixed_to_ns(correction.subtracted, hello.clock_hz);
    for (std::uint32_t number = 0; number < times.size(); ++number) {
        FunctionRow row;
        if (number == FunctionTable::none) {
            row.name = "(functions beyond the table's room)";
        } else {
            row = named_row<FunctionRow>(profile.functions().offset(number), hello, symbols);
        }
        add_times(row, times[number], correction.functions[number], hello.clock_hz);
        report.by_number.push_back(row);
        if (row.calls != 0) report.functions.push_back(std::move(row));
    }
    report.nodes = std::move(correction.nodes);
    add_shares(report.functions, raw);
    add_profile(report, profile.on_target(), hello, symbols);
    add_masked(report, profile, hello, symbols);
    add_captured(report, profile);
    add_samples(report, profile, symbols);
    add_events(
        report, profile, local,
        [&](std::uint32_t offset) { return named_row<FunctionPlace>(offset, hello, symbols); },
        [&](std::uint32_t offset) { return has_no_landing_pad(function_at(offset, hello, symbols)); });
    report.adaptive = profile.moved().any_frame();
    if (!report.adaptive) {
        add_target(report, profile);
        return report;
    }
    join_profile(report);
    report.moves = profile.moved().moves();
    for (const MoveEvent& event : profile.moved().events()) {
        auto row = named_row<MoveRow>(event.site_offset, hello, symbols);
        row.at_ns = ticks_to_ns(event.ticks, hello.clock_hz);
        row.to_profile = event.to_profile;
        row.session = event.session;
        report.moved.push_back(std::move(row));
    }
    add_target(report, profile);
    return report;
}

void sort_rows(std::vector<FunctionRow>& rows, SortKey key, std::size_t top, bool raw) {
    sort_by(rows, key, top, raw);
}
void sort_rows(std::vector<ProfileRow>& rows, SortKey key, std::size_t top, bool raw) {
    sort_by(rows, key, top, raw);
}

std::string overhead_line(const Report& report) {
    if (!report.has_calls() && report.read_out == 0 && report.samples.count != 0) return {};
    if (!report.calibrated) {
        return "recording: the target did not measure what it takes; the times have it in them\n";
    }
    std::string line = report.raw ? "recording: in the times is" : "recording: taken off is";
    const auto add = [&](wire::RecorderNumber recorder, const char* of, bool outside) {
        const wire::Overhead& one = report.overheads[static_cast<std::size_t>(recorder)];
        const auto ns = [&](std::int32_t fixed) { return overhead_ns(fixed, report.clock_hz); };
        line += fmt::format(" {:.1f} ns of each {}", ns(one.inside), of);
        if (outside) line += fmt::format(" and {:.1f} ns of its caller", ns(one.outside));
        line += ",";
    };
    if (report.has_calls() || report.read_out == 0) {
        add(wire::RecorderNumber::graph, "traced call", true);
    }
    if (report.read_out != 0) add(wire::RecorderNumber::profile, "profiled call", false);
    return line + (report.raw ? " as measured at boot\n" : " as measured at boot; not off min and max\n");
}

}  // namespace nopscope
