// SPDX-License-Identifier: Apache-2.0
// A profile with names and nanoseconds: what every output format shows. Times are as recorded, and
// `corrected`: less the recording overhead (analysis/profile/correction.hpp). All times in a table (total,
// self, min, mean, max, percentiles) are corrected, or all are as recorded.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "host-tools/image/symbols.hpp"
#include "host-tools/recording/reader.hpp"
#include "host-tools/analysis/profile/correction.hpp"

namespace nopscope::host {

// What stands for functions and paths that --memory has no room for.
inline constexpr char others_name[] = "(others)";

struct FunctionPlace {
    std::string name;
    std::string file;  // empty: unknown
    std::uint32_t line = 0;
    std::uint64_t address = 0;  // link time
    std::optional<std::uint32_t> interrupt = std::nullopt;  // it is none, but this interrupt: no file, no address
};

// Different of different functions and interrupts, the same in every report of an image; 0: it is neither.
// Of a function, its address.
std::uint64_t key_of(const FunctionPlace& place);

// Of single calls: those that were seen from begin to end. min <= mean <= max <= the row's total.
struct CallTimes {
    std::uint64_t min_ns = 0;
    std::uint64_t mean_ns = 0;
    std::uint64_t max_ns = 0;
};

// From the records of a trace.
struct FunctionRow : FunctionPlace {
    std::uint64_t calls = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t self_ns = 0;
    std::uint64_t corrected_total_ns = 0;
    std::uint64_t corrected_self_ns = 0;
    std::optional<CallTimes> call;  // absent: no call of it was seen from begin to end
    std::optional<CallTimes> corrected_call;
    std::uint64_t timed = 0;  // of `calls`: those that were seen from begin to end
    double share = 0;  // self of all functions' self, both corrected unless Report::raw, 0..1
    std::uint64_t open = 0;
    std::uint64_t lost = 0;
    std::uint64_t unwound = 0;
    std::uint64_t incomplete = 0;
    std::uint64_t dropped = 0;   // records, while a call of it was open: maybe its callees'
    std::uint64_t profiled = 0;  // of `calls`: those that the target's profile has
};

// From what the target's profile recorder added up.
struct ProfileRow : FunctionPlace {
    std::uint64_t calls = 0;
    std::uint64_t total_ns = 0;  // of all calls, also of those inside each other
    std::uint64_t self_ns = 0;
    std::uint64_t corrected_total_ns = 0;  // the calls that it made are still recorded in it
    std::uint64_t corrected_self_ns = 0;
    CallTimes call;
    CallTimes corrected_call;
    std::array<std::uint64_t, 2> percentiles_ns{};  // p50, p99: upper bounds, ends of bins
    std::array<std::uint64_t, 2> corrected_percentiles_ns{};
    std::uint64_t taken = 0;  // overhead of each call, in 1/256 ticks, to take off the bins' ends
    double share = 0;  // likewise, of all profiled functions' self
    std::array<std::uint64_t, protocol::profile_bins> bins{};
};

// From samples: of how many it was the function that ran, and of how many one that was open.
struct SampleRow : FunctionPlace {
    std::uint64_t self = 0;
    std::uint64_t total = 0;
    double share = 0;  // self of all samples, 0..1
};
struct SampleNode {
    std::uint32_t parent = 0;  // number; 0, the first, is no function's
    std::uint32_t function = 0;  // SampleReport::places
    std::uint64_t self = 0;
    std::uint64_t total = 0;
};
struct SampleReport {
    std::uint64_t count = 0;
    std::uint64_t cut = 0;  // of them: callers beyond the outermost that is shown were left out
    std::vector<SampleRow> functions;  // unsorted
    std::vector<FunctionPlace> places;
    std::vector<SampleNode> nodes;     // parents first
};

// From the PMU's events: of how many calls, and how many there were, as counted and less what recording adds.
struct EventCell {
    std::uint64_t calls = 0;
    std::uint64_t total = 0;  // a recursive function's counts once, but in the profile
    std::uint64_t self = 0;
    std::uint64_t corrected_total = 0;
    std::uint64_t corrected_self = 0;
};
struct EventRow : FunctionPlace {
    std::vector<EventCell> cells;  // by column
};
struct EventColumn {
    std::uint32_t number = 0;
    std::string name;
    bool corrected = false;  // what recording adds is known
};
struct EventTable {
    std::vector<EventColumn> columns;            // by number; none: nothing was counted
    std::vector<EventRow> rows;                  // by address
    std::vector<std::vector<EventCell>> nodes;   // of calls: by column and node of the call tree
};

enum class SortKey : std::uint8_t { self, total, calls, max };

// One that the target in adaptive mode has moved to the profile, or back.
struct MoveRow : FunctionPlace {
    std::uint64_t at_ns = 0;  // since the session's first event
    bool to_profile = false;
    std::uint64_t session = 0;
};

// The values that a register had at a function's entry, or its result.
struct CapturedRow : FunctionPlace {
    std::string what;  // "x0" to "x7", "result"
    ValueSeries series;
};

struct MarkRow {
    std::uint64_t time_ns = 0;  // since the session's first event
    std::uint32_t id = 0;
    unsigned core = 0;
    std::uint32_t context = 0;
    std::uint64_t session = 0;
    std::string function;  // that it lies in; empty: none
};

// Interrupts of a core were masked for longer than ever before in its session.
struct MaskedRow : FunctionPlace {  // that masked them
    std::uint64_t at_ns = 0;  // its end, since the session's first event
    std::uint64_t length_ns = 0;
    unsigned core = 0;
    std::uint64_t session = 0;
};

// One counter of `integrity`. Those that spoil a recording are zero in a clean one.
struct IntegrityItem {
    const char* name;
    std::uint64_t value;
    bool spoils;
};

struct Integrity {
    std::vector<IntegrityItem> items;  // generated and its summands, corrupt_frames, gaps first
    bool at_least = false;  // generated is a lower bound: there may have been more
    bool complete = false;  // the target said it was finished, and everything up to there is here
    bool clean = false;     // complete, and no counter that spoils is above zero

    std::uint64_t value(std::string_view name) const;  // 0: there is no such item
};

// How many of the target's records are not in the recording. What flight mode overwrites is no
// loss.
struct Loss {
    std::uint64_t events = 0;  // that there were
    std::uint64_t dropped = 0;  // for want of room in the ring: the line is too slow
    std::uint64_t lost = 0;     // on the line
    std::vector<std::string> helps;  // options of `record`, and advice

    double share() const {
        return events == 0 ? 0 : static_cast<double>(dropped + lost) / static_cast<double>(events);
    }
};

// What the recording lacks between two points in time of a core.
struct MissingRow {
    std::uint64_t session = 0;
    unsigned core = 0;
    std::uint64_t from_ns = 0;  // since the session's first event
    std::uint64_t to_ns = 0;
    std::uint64_t lost = 0;
    std::uint64_t overwritten = 0;
    std::uint64_t dropped = 0;

    std::uint64_t all() const { return lost + overwritten + dropped; }
};

// What the target says of itself. Not known of older targets.
struct TargetRow {
    std::string in_force;  // "graph, lossless"
    std::uint64_t from_ns = 0;  // since the session's first event
    std::uint64_t session = 0;
};
struct TargetFacts {
    bool known = false;
    std::vector<TargetRow> in_force;  // in order
    std::optional<std::uint64_t> stopped_ns;  // when a request stopped the recording
    bool keeps_profile = false;
    std::optional<std::uint64_t> read_ns;  // when the profile was last read; nothing: never
    std::vector<std::string> only_there;   // functions that were moved to the profile, which was not read since
    std::uint64_t recursions = 0;          // callbacks and captures left out
    std::uint32_t sites = 0;
    protocol::RefusedSites refused;
};

// What --memory had no room for. The rows and paths "(others)" have these calls, so all sums are exact.
struct Others {
    std::uint64_t calls = 0;       // of functions that have no row, and of the target's profile's
    std::uint64_t path_calls = 0;  // of paths that the call tree does not have
    std::uint64_t left_out = 0;    // values, counts of events, marks and gaps that are nowhere

    bool any() const { return (calls | path_calls | left_out) != 0; }
};

struct Report {
    Others others;
    std::string build_id;  // hexadecimal
    std::string image;
    std::string board;
    std::uint64_t clock_hz = 0;
    protocol::Clock clock{};
    bool calibrated = false;  // else nothing is taken off
    std::array<protocol::Overhead, protocol::overhead_count> overheads{};
    std::int32_t landing_pad = 0;  // hello's
    std::int64_t subtracted_ns = 0;   // from all self times of `functions` and `profile` together
    std::uint64_t below_zero_ns = 0;  // overhead beyond that: self times are 0 already
    bool raw = false;                 // what texts show, and what rows are sorted by
    unsigned cores = 0;
    bool lossless = false;
    bool flight = false;
    std::uint64_t duration_ns = 0;
    std::uint64_t tracer_ns = 0;
    std::uint64_t sessions = 0;
    Integrity integrity;
    std::vector<MissingRow> missing;     // in the order of the recording
    std::vector<FunctionRow> functions;  // unsorted
    std::vector<FunctionRow> by_number;  // by the profile's function number, for the call tree
    std::vector<Times> nodes;            // by node of the call tree, corrected
    std::vector<Times> raw_nodes;        // likewise, as recorded
    std::vector<bool> no_landing_pad;    // by function number
    std::uint64_t read_out = 0;          // number of the last one of the profile; 0: there is none
    std::vector<ProfileRow> profile;     // unsorted
    bool adaptive = false;  // then `functions` are those of the trace and of the profile together
    std::uint64_t moves = 0;
    std::vector<MoveRow> moved;
    TargetFacts target;
    SampleReport samples;
    EventTable events;          // of calls in the trace
    EventTable profile_events;
    protocol::EventCosts event_costs;
    SortKey sort = SortKey::self;  // of `events`, in texts: their first `top`; 0: all
    std::size_t top = 0;
    std::vector<CapturedRow> captured;   // by address
    std::map<std::uint32_t, ValueSeries> counters;
    std::vector<MarkRow> marks;
    std::vector<MaskedRow> masked;
    std::vector<ContextTimes> contexts;  // in the order of the recording's sessions

    // The times of a node of the call tree, as texts show them.
    const Times& of_node(std::size_t node) const { return raw ? raw_nodes[node] : nodes[node]; }
    // Of functions, not of interrupts alone, which are told with any recorder.
    bool has_calls() const;
};

// Of what hello's overheads are in.
double overhead_ns(std::int32_t fixed, std::uint64_t clock_hz);
const char* clock_name(protocol::Clock clock);
const char* recorder_name(std::size_t index);  // protocol::overhead_index()
std::string interrupt_name(std::uint32_t number);

// `symbols` may be null, as in make_report().
Integrity integrity_of(const Profile& profile, const nsc::Counters& counters,
                       const Symbols* symbols);

// Returns how many of these functions have no patch site in the image; without the image, how many
// there are beyond its number of sites. No target makes a record of such a function.
// (integrity.cpp)
std::uint64_t unknown_sites(const std::set<std::uint32_t>& offsets, const HelloInfo& hello,
                            const Symbols* symbols);
// For Profile::know_code(): `symbols` is asked when a path is met first; null: nothing is known.
CodeOfCalls code_of_calls(std::function<const Symbols*()> symbols);


// Why a recording without a hello that could be read says nothing.
std::string no_report_sentence(const nsc::Counters& counters);

// `symbols` may be null: functions are then named by address. Throws Error when the symbols are of
// another image, or the recording says nothing that can be reported.
Report make_report(const Profile& profile, const nsc::Counters& counters, const Symbols* symbols,
                   bool raw = false);

// Largest first, then by name; keeps the first `top` (0: all). By the times as recorded, or corrected.
void sort_rows(std::vector<FunctionRow>& rows, SortKey key, std::size_t top, bool raw = true);
void sort_rows(std::vector<ProfileRow>& rows, SortKey key, std::size_t top, bool raw = true);
void sort_rows(std::vector<SampleRow>& rows, SortKey key, std::size_t top);  // by total, else by self
void sort_rows(std::vector<EventRow>& rows, SortKey key, std::size_t top, bool raw);  // of the first event

// What a text shows of a row.
template <typename Row>
std::uint64_t total_of(const Row& row, bool raw) {
    return raw ? row.total_ns : row.corrected_total_ns;
}
template <typename Row>
std::uint64_t self_of(const Row& row, bool raw) {
    return raw ? row.self_ns : row.corrected_self_ns;
}
inline std::optional<CallTimes> call_of(const FunctionRow& row, bool raw) {
    return raw ? row.call : row.corrected_call;
}
inline std::optional<CallTimes> call_of(const ProfileRow& row, bool raw) {
    if (row.calls == 0) return {};
    return raw ? row.call : row.corrected_call;
}
inline const std::array<std::uint64_t, 2>& percentiles_of(const ProfileRow& row, bool raw) {
    return raw ? row.percentiles_ns : row.corrected_percentiles_ns;
}
inline std::uint64_t total_of(const EventCell& cell, bool raw) { return raw ? cell.total : cell.corrected_total; }
inline std::uint64_t self_of(const EventCell& cell, bool raw) { return raw ? cell.self : cell.corrected_self; }

// "src/lvm.c:1139": the last two components, enough to find it, short enough for a table.
std::string short_place(const FunctionPlace& row);
// Which recorders and mode were in force, and when (head.cpp): "graph, lossless until 1.2 s; then
// profile, adaptive". For an older target the mode that the first session began in; adaptive if it
// ever was.
std::string mode_text(const Report& report);
// "680 ms recorded: 34.0 ms of the program, 646 ms of the tracer". In lossless mode: "34.0 ms of the program recorded; it
// stood still for 646 ms while the tracer sent".
std::string recorded_text(const Report& report);

// A line above the tables. There is none if there is nothing to say.
struct HeadLine {
    const char* name;
    std::string text;
    bool spoils;  // figures are missing
};
std::vector<HeadLine> head_lines(const Report& report);

// What a recording will lack, known as soon as its target is heard: a sentence for each.
std::vector<std::string> shortcomings(const HelloInfo& hello);
void add_target(Report& report, const Profile& profile);  // after `moved`
void json_target(nlohmann::ordered_json& json, const Report& report);  // `target`, if it is known
std::string text_report(const Report& report);
std::string json_report(const Report& report);
std::string csv_report(const Report& report);

struct GraphOptions {
    unsigned depth = 0;    // 0: no limit
    double min_share = 0;  // of the recording's whole time, 0..1
};

// What it says besides times (captured.cpp); texts end with an empty line, or are empty.
void add_captured(Report& report, const Profile& profile);
std::string text_captured(const Report& report);
std::string text_marks(const Report& report);

// Samples (samples.cpp): likewise.
void add_samples(Report& report, const Profile& profile, const Symbols* symbols);
// Into `json`, if there are any: `samples`; `nodes` too, for graph.
void json_samples(nlohmann::ordered_json& json, const Report& report, const GraphOptions* graph = nullptr);
std::string text_samples(const Report& report);
std::string text_sampled_graph(const Report& report, const GraphOptions& options);

// Events (events.cpp): likewise. `local`: by function number, those without a landing pad; the others by site offset.
void add_events(Report& report, const Profile& profile, const std::vector<bool>& local,
                const std::function<FunctionPlace(std::uint32_t)>& place_of,
                const std::function<bool(std::uint32_t)>& is_local);
void json_events(nlohmann::ordered_json& json, const Report& report);  // functions are there already
nlohmann::ordered_json json_node_events(const Report& report, std::uint32_t node);
std::string csv_event_heads(const EventTable& table);  // each begins with a comma
std::string csv_events(const EventTable& table, std::uint64_t address);
std::string text_events(const Report& report);

// What is missing (loss.cpp). A row is doubtful if a gap lies in its calls, or if its core dropped
// records while one of them was open: the tracer does not hook a call that it drops, so the call's
// time is its caller's self time.
Loss loss_of(const Report& report);
std::string loss_line(const Report& report);  // empty: nothing is missing
std::string others_line(const Report& report);  // empty: all had room
inline bool has_gaps(const FunctionRow& row) { return row.incomplete != 0 || row.lost != 0; }
inline bool is_doubtful(const FunctionRow& row) { return has_gaps(row) || row.dropped != 0; }  // its self time

// What has been taken off the times in the text, per event, or why nothing was.
std::string overhead_line(const Report& report);
// "integrity: generated 9 = delivered 9 + dropped 0 + lost 0; corrupt_frames 0, gaps 0", and what
// else is not zero.
std::string integrity_line(const Integrity& integrity);

std::string text_graph(const Report& report, const Profile& profile, const GraphOptions& options);
std::string json_graph(const Report& report, const Profile& profile, const GraphOptions& options);

}  // namespace nopscope::host
