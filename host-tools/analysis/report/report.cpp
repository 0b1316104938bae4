// SPDX-License-Identifier: Apache-2.0
#include "host-tools/analysis/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/target/stream/diagnosis.hpp"
#include "host-tools/target/stream/same_image.hpp"

namespace nopscope::host {
namespace {

std::uint64_t base_of(const HelloInfo& hello) { return hello.text_base - hello.load_bias; }
const Function* function_at(std::uint32_t offset, const HelloInfo& hello, const Symbols* symbols) {
    return symbols != nullptr ? symbols->find(base_of(hello) + offset) : nullptr;
}
bool has_no_landing_pad(const Function* function) {
    return function != nullptr && !function->landing_pad;
}

template <typename Row>
Row named_row(std::uint32_t offset, const HelloInfo& hello, const Symbols* symbols) {
    Row row;
    static_cast<FunctionPlace&>(row) =
        is_interrupt(offset)
            ? interrupt_place(offset)
            : place_of(base_of(hello) + offset, function_at(offset, hello, symbols));
    return row;
}

void add_masked(Report& report, const Profile& profile, const HelloInfo& hello,
                const Symbols* symbols) {
    for (const Masked& masked : profile.masked()) {
        MaskedRow row;
        // The return address of the call that masked them.
        const std::uint64_t address = base_of(hello) + static_cast<std::uint64_t>(masked.where);
        static_cast<FunctionPlace&>(row) =
            place_of(address, symbols != nullptr ? symbols->around(address - 4) : nullptr);
        row.at_ns = ticks_to_ns(masked.ticks, hello.clock_hz);
        row.length_ns = ticks_to_ns(masked.length, hello.clock_hz);
        row.core = masked.core;
        row.session = masked.session;
        report.masked.push_back(std::move(row));
    }
}

// Times of calls, in 1/256 ticks. A negative time counts as zero.
struct FixedCalls {
    SignedFixedTicks min = 0;
    SignedFixedTicks sum = 0;
    SignedFixedTicks max = 0;
};
// Limits each time to `total_ns`: sums are rounded by path (analysis/profile/sums.hpp), so a call
// may otherwise be some nanoseconds above its function's total.
CallTimes call_times(const FixedCalls& calls, std::uint64_t count, std::uint64_t total_ns,
                     std::uint64_t clock_hz) {
    const auto ns = [&](SignedFixedTicks fixed) {
        return fixed > 0 ? fixed_to_ns(static_cast<FixedTicks>(fixed), clock_hz) : 0;
    };
    const std::uint64_t min = std::min(ns(calls.min), total_ns),
                        max = std::min(ns(calls.max), total_ns);
    return {min, std::clamp((ns(calls.sum) + count / 2) / count, min, std::max(min, max)), max};
}

// `longest_ns`: a call may be that long, even if the total is less.
void add_times(FunctionRow& row, const FunctionTimes& times, const Times& raw,
               const Times& corrected, std::int64_t pad, std::uint64_t clock_hz,
               std::uint64_t longest_ns) {
    row.calls = times.calls;
    row.total_ns = raw.total_ns;
    row.self_ns = raw.self_ns;
    row.corrected_total_ns = corrected.total_ns;
    row.corrected_self_ns = corrected.self_ns;
    row.cpu_ns = raw.cpu_ns;
    row.corrected_cpu_ns = corrected.cpu_ns;
    row.timed = times.timed;
    if (times.timed != 0) {
        const auto fixed = [](std::uint64_t ticks) {
            return SignedFixedTicks{ticks} * protocol::overhead_unit;
        };
        row.call =
            call_times({fixed(times.min_ticks), fixed(times.timed_ticks), fixed(times.max_ticks)},
                       times.timed, std::max(row.total_ns, longest_ns), clock_hz);
    }
    if (times.timed > times.uncorrected) {
        const std::uint64_t calls = times.timed - times.uncorrected;
        row.corrected_call = call_times(
            {times.corrected_min - pad, times.corrected_sum - SignedFixedTicks{calls} * pad,
             times.corrected_max - pad},
            calls, std::max(row.corrected_total_ns, longest_ns), clock_hz);
    }
    row.open = times.open;
    row.lost = times.lost;
    row.unwound = times.unwound;
    row.incomplete = times.incomplete;
    row.cut = times.cut;
    row.dropped = times.dropped;
    if (times.max_ticks != 0)
        row.longest = Longest{times.max_end, times.max_core, times.max_context};
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

std::int64_t subtracted_of(const TimedRow& row) {
    return static_cast<std::int64_t>(row.self_ns - row.corrected_self_ns);
}

void add_profile(Report& report, const TargetProfile& profile, const HelloInfo& hello,
                 const Symbols* symbols) {
    const auto ns = [&](std::uint64_t ticks) { return ticks_to_ns(ticks, hello.clock_hz); };
    report.read_out = profile.last_read_out();
    const auto add = [&](ProfileRow row, const ProfiledTimes& times, bool local) {
        if (times.calls == 0) return;  // a hostile count wraps
        row.calls = times.calls;
        row.total_ns = ns(times.total_ticks);
        row.self_ns = ns(positive(times.self_ticks));
        const CorrectedProfile corrected = correct(times, hello, local);
        row.corrected_total_ns = corrected.times.total_ns;
        row.corrected_self_ns = corrected.times.self_ns;
        report.below_zero_ns += corrected.below_zero_ns;
        report.subtracted_ns += subtracted_of(row);
        row.bins = times.bins;
        row.doubtful = report.integrity.value("shadow_stack_full") != 0;
        row.taken = static_cast<std::uint64_t>(corrected.each);
        const auto less = [&](std::uint64_t ticks, SignedFixedTicks taken) {
            return SignedFixedTicks{ticks} * protocol::overhead_unit - taken;
        };
        const auto all = [&](SignedFixedTicks each, std::uint64_t total_ns) {
            return call_times(
                {less(times.min_ticks, each),
                 less(times.total_ticks, each * static_cast<SignedFixedTicks>(times.calls)),
                 less(times.max_ticks, each)},
                times.calls, total_ns, hello.clock_hz);
        };
        row.call = all(0, row.total_ns);
        row.corrected_call = all(corrected.each, row.corrected_total_ns);
        for (std::size_t i = 0; i < row.percentiles_ns.size(); ++i) {
            const std::uint64_t ticks = times.percentile(i == 0 ? 50 : 99);
            const SignedFixedTicks rest = less(ticks, corrected.each);
            row.percentiles_ns[i] = std::min(ns(ticks), row.call->max_ns);
            row.corrected_percentiles_ns[i] =
                std::min(rest > 0 ? fixed_to_ns(static_cast<FixedTicks>(rest), hello.clock_hz) : 0,
                         row.corrected_call->max_ns);
        }
        report.profile.push_back(std::move(row));
    };
    for (const auto& [offset, times] : profile.functions()) {
        add(named_row<ProfileRow>(offset, hello, symbols), times,
            has_no_landing_pad(function_at(offset, hello, symbols)));
    }
    ProfileRow others;
    others.name = others_name;
    add(std::move(others), profile.others(), false);
    add_shares(report.profile, report.raw);
}

CallTimes joined(const std::optional<CallTimes>& a, std::uint64_t calls, const CallTimes& b,
                 std::uint64_t more) {
    if (!a) return b;
    const auto sum = [](std::uint64_t ns, std::uint64_t count) {
        return SignedFixedTicks{ns} * SignedFixedTicks{count};
    };
    const SignedFixedTicks mean =
        (sum(a->mean_ns, calls) + sum(b.mean_ns, more)) / (SignedFixedTicks{calls} + more);
    return {std::min(a->min_ns, b.min_ns), static_cast<std::uint64_t>(mean),
            std::max(a->max_ns, b.max_ns)};
}

// In adaptive mode the trace has some of a function's calls, and the profile has the others.
void join_profile(Report& report) {
    std::unordered_map<std::uint64_t, std::size_t> at;
    const bool is_split = report.split != SplitBy::nothing;
    if (is_split) report.groups.push_back("(target's profile)");
    const auto last_group = static_cast<std::uint16_t>(report.groups.size() - 1);
    for (std::size_t i = 0; i < report.functions.size() && !is_split; ++i)
        at[report.functions[i].address] = i;
    for (const ProfileRow& from : report.profile) {
        const auto [found, is_new] = at.try_emplace(from.address, report.functions.size());
        if (is_new) {
            report.functions.emplace_back();
            static_cast<FunctionPlace&>(report.functions.back()) = from;
            if (is_split) report.functions.back().group = last_group;
        }
        FunctionRow& row = report.functions[found->second];
        row.calls += from.calls;
        row.profiled = from.calls;
        if (row.call && from.call->max_ns > row.call->max_ns) row.longest.reset();
        row.total_ns += from.total_ns;
        row.self_ns += from.self_ns;
        row.corrected_total_ns += from.corrected_total_ns;
        row.corrected_self_ns += from.corrected_self_ns;
        row.cpu_ns += from.total_ns;
        row.corrected_cpu_ns += from.corrected_total_ns;
        row.call = joined(row.call, row.timed, *from.call, from.calls);
        row.corrected_call =
            joined(row.corrected_call, row.timed, *from.corrected_call, from.calls);
        row.timed += from.calls;
    }
    add_shares(report.functions, report.raw);
}

template <typename Row>
void sort_by(std::vector<Row>& rows, SortKey key, std::size_t top, bool raw) {
    const auto value = [key, raw](const Row& row) {
        switch (key) {
        case SortKey::self: return self_of(row, raw);
        case SortKey::total: return total_of(row, raw);
        case SortKey::calls: return row.calls;
        case SortKey::max: return call_of(row, raw).value_or(CallTimes{}).max_ns;
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

std::string longest_text(const Longest& call) {
    return fmt::format("{} on core {}{}", exact_ns(call.end_ns), call.core,
                       call.context != 0 ? fmt::format(", context {}", call.context) : "");
}

// Addresses are even, the offsets of interrupts are odd.
std::uint64_t key_of(const FunctionPlace& place) {
    return place.interrupt ? interrupt_offset(*place.interrupt) : place.address;
}
bool Report::has_calls() const {
    return std::any_of(functions.begin(), functions.end(),
                       [](const FunctionRow& row) { return !row.interrupt; });
}
bool Report::has_tasks() const {
    return std::any_of(contexts.begin(), contexts.end(),
                       [](const ContextRow& row) { return row.context != 0; });
}
FunctionPlace interrupt_place(std::uint32_t offset) {
    const std::uint32_t number = interrupt_of(offset);
    return {.name = fmt::format("(interrupt {})", number), .file = {}, .interrupt = number};
}

FunctionPlace place_of(std::uint64_t address, const Function* function) {
    if (function == nullptr)
        return {.name = hex_address(address), .file = {}, .line = 0, .address = address};
    return {function->name, function->file, function->line, address, {}, function->aliases};
}

std::string name_of_node(const Report& report, const CallTree::Node& node) {
    switch (node.kind) {
    case CallTree::Kind::path: break;
    case CallTree::Kind::root:
        return (report.split == SplitBy::core ? "core " : "") + report.groups[node.group];
    case CallTree::Kind::after_gap: return "(callers lost in a gap)";
    case CallTree::Kind::overflow: return others_name;
    }
    return report.by_number[node.function].name;
}

CodeOfCalls code_of_calls(std::function<const Symbols*()> symbols) {
    return {.tail =
                [symbols](std::uint64_t caller, std::uint64_t callee) {
                    const Symbols* const known = symbols();
                    return known != nullptr ? known->tail(caller, callee) : Tail::never;
                },
            .has_no_landing_pad =
                [symbols](std::uint64_t function) {
                    const Symbols* const known = symbols();
                    return known != nullptr && has_no_landing_pad(known->find(function));
                }};
}

std::string no_report_sentence(const nsc::Counters& counters) {
    const LineCounters& line = counters.line;
    if (const auto version = counters.stream.refused_version; version != 0) {
        return refused_version_sentence(version);
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
    report.architecture = hello.architecture;
    report.clock = hello.clock;
    report.calibrated = hello.calibrated;
    report.overheads = hello.overheads;
    report.landing_pad = hello.landing_pad;
    report.raw = raw;
    report.on_cpu = profile.is_on_cpu();
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

    add_contexts(report, profile);
    const TimesByGroup times = profile.times_by_group();
    const std::uint32_t functions = profile.functions().size();
    CodeFacts code{.local = std::vector<bool>(functions), .tail = {}};
    std::vector<bool>& local = code.local;
    for (std::uint32_t number = FunctionTable::none + 1; number < functions; ++number) {
        local[number] =
            has_no_landing_pad(function_at(profile.functions().offset(number), hello, symbols));
    }
    if (symbols != nullptr) {
        code.tail = [&](std::uint32_t caller, std::uint32_t callee) {
            const std::uint32_t from = profile.functions().offset(caller),
                                to = profile.functions().offset(callee);
            if (is_interrupt(from) || is_interrupt(to)) return Tail::never;
            return symbols->tail(base_of(hello) + from, base_of(hello) + to);
        };
    }
    Sums as_recorded = sum_up(profile, times, {});
    Sums corrected = correct(profile, times, code);
    report.below_zero_ns = corrected.below_zero_ns;
    report.split = profile.groups().by();
    report.groups = profile.groups().names();
    // A core has only a part of the times of a call that moved.
    const std::uint64_t longest_ns = report.split == SplitBy::core ? ~std::uint64_t{0} : 0;
    for (std::uint32_t number = 0; number < functions; ++number) {
        FunctionRow place;
        if (number == FunctionTable::none) {
            place.name = others_name;
        } else {
            place = named_row<FunctionRow>(profile.functions().offset(number), hello, symbols);
        }
        FunctionRow& whole = report.by_number.emplace_back(place);
        for (std::size_t group = 0; group < times.size(); ++group) {
            FunctionRow row = place;
            row.group = static_cast<std::uint16_t>(group);
            add_times(row, number < times[group].size() ? times[group][number] : FunctionTimes{},
                      as_recorded.functions[group][number], corrected.functions[group][number],
                      local[number] ? hello.landing_pad : 0, hello.clock_hz, longest_ns);
            report.subtracted_ns += subtracted_of(row);
            whole.calls += row.calls;
            if (report.split == SplitBy::nothing) whole = row;
            // A call that moved to another core has a time there, and is not counted there.
            const bool has_time = report.split == SplitBy::core && row.total_ns != 0;
            if ((row.calls | row.cut) != 0 || has_time) report.functions.push_back(std::move(row));
        }
    }
    report.others = {
        .calls = report.by_number[FunctionTable::none].calls + profile.on_target().others().calls,
        .path_calls = 0,
        .left_out = profile.left_out()};
    for (const CallTree::Group& group : profile.tree().groups())
        report.others.path_calls += profile.tree().nodes()[group.overflow].calls;
    report.nodes = std::move(corrected.nodes);
    report.raw_nodes = std::move(as_recorded.nodes);
    add_shares(report.functions, raw);
    add_profile(report, profile.on_target(), hello, symbols);
    add_masked(report, profile, hello, symbols);
    add_captured(report, profile);
    add_samples(report, profile, symbols);
    add_events(
        report, profile, local,
        [&](std::uint32_t offset) { return named_row<FunctionPlace>(offset, hello, symbols); },
        [&](std::uint32_t offset) {
            return has_no_landing_pad(function_at(offset, hello, symbols));
        });
    report.no_landing_pad = local;
    report.adaptive = profile.moved().any_frame();
    if (report.adaptive) join_profile(report);
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
        return "overhead: the target did not measure it; the times contain it\n";
    }
    std::string line = report.raw ? "overhead left in the times:" : "overhead removed:";
    const auto add = [&](protocol::Recorder recorder, const char* call, bool outside) {
        const protocol::Overhead& one = report.overheads[protocol::overhead_index(recorder)];
        const auto ns = [&](std::int32_t fixed) { return overhead_ns(fixed, report.clock_hz); };
        line += fmt::format(" {:.1f} ns from each {}", ns(one.inside), call);
        if (outside) line += fmt::format(" and {:.1f} ns from its caller", ns(one.outside));
        line += ",";
    };
    if (report.has_calls() || report.read_out == 0) {
        add(protocol::Recorder::graph, "traced call", true);
    }
    if (report.read_out != 0) add(protocol::Recorder::profile, "profiled call", false);
    line.pop_back();
    return line + " (measured at boot)\n";
}

}  // namespace nopscope::host
