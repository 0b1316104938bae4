// SPDX-License-Identifier: Apache-2.0
// A profile with names and nanoseconds, which every output format shows. It has times as recorded,
// and `corrected` times: less the recording overhead (analysis/profile/correction.hpp). All times
// in a table (total, self, min, mean, max, percentiles) are corrected, or all are as recorded. In a
// report on the CPU (Report::on_cpu) all times of calls are without those in which their tasks did
// not run; else only the `cpu_ns`.
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

#include "host-tools/analysis/profile/correction.hpp"
#include "host-tools/image/symbols.hpp"
#include "host-tools/recording/reader.hpp"

namespace nopscope::host {

// The name of the row for all functions and paths that --memory has no room for.
inline constexpr char others_name[] = "(others)";

struct FunctionPlace {
    std::string name;
    std::string file;  // empty: unknown
    std::uint32_t line = 0;
    std::uint64_t address = 0;  // link time
    // Set for an interrupt, which has no file and no address.
    std::optional<std::uint32_t> interrupt = std::nullopt;
    std::vector<std::string> aliases = {};  // as Function's
};

// A key that is unique among functions and interrupts, and the same in every report of an image. A
// function's key is its address. 0: the place is neither.
std::uint64_t key_of(const FunctionPlace& place);
// The position of the function with this key_of() in a view's list. Below 0: it is not in the list.
using PositionOf = std::function<std::int64_t(std::uint64_t key)>;

// Of the single calls that were recorded from begin to end. min <= mean <= max <= the row's total.
struct CallTimes {
    std::uint64_t min_ns = 0;
    std::uint64_t mean_ns = 0;
    std::uint64_t max_ns = 0;
};

// Where the longest single call is, to find it with `replay --around`.
struct Longest {
    std::uint64_t end_ns = 0;  // when it ended: since the recording's first record
    std::uint32_t core = 0;
    std::uint32_t context = 0;
};
std::string longest_text(const Longest& call);  // "10.5ms on core 0"

// A function's calls and times.
struct TimedRow : FunctionPlace {
    std::uint64_t calls = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t self_ns = 0;
    std::uint64_t corrected_total_ns = 0;
    std::uint64_t corrected_self_ns = 0;
    std::optional<CallTimes> call;  // nothing: no call was recorded from begin to end
    std::optional<CallTimes> corrected_call;
    double share =
        0;  // self / the self of all rows of its kind, corrected unless Report::raw, 0..1
};

// From the records of a trace.
struct FunctionRow : TimedRow {
    std::uint16_t group = 0;   // in Report::groups
    std::uint64_t cpu_ns = 0;  // of the total; of calls in the target's profile all of it
    std::uint64_t corrected_cpu_ns = 0;
    std::uint64_t timed = 0;  // of `calls`: recorded from begin to end
    std::uint64_t open = 0;
    std::uint64_t lost = 0;
    std::uint64_t unwound = 0;
    std::uint64_t incomplete = 0;
    std::uint64_t cut = 0;       // crossed an end of the part; `calls` has those that began in it
    std::uint64_t dropped = 0;   // records while a call of it was open: maybe its callees'
    std::uint64_t profiled = 0;  // of `calls`: from the target's profile
    std::optional<Longest> longest;  // as recorded; nothing: it is not known
};

// From the sums of the target's profile recorder. Each row has calls. The total is the sum over all
// calls, also over calls inside each other. Corrected, it contains the overhead of the calls that
// the function made.
struct ProfileRow : TimedRow {
    std::array<std::uint64_t, 2> percentiles_ns{};  // p50, p99: upper bounds, ends of bins
    std::array<std::uint64_t, 2> corrected_percentiles_ns{};
    std::uint64_t taken = 0;  // overhead of each call, in 1/256 ticks: subtract it from bins' ends
    std::array<std::uint64_t, protocol::profile_bins> bins{};
    bool doubtful = false;  // calls are missing: those beyond the shadow stack
};

// Numbers of samples.
struct SampleRow : FunctionPlace {
    std::uint64_t self = 0;   // in which the function ran
    std::uint64_t total = 0;  // in which a call of it was open
    double share = 0;         // self / all samples, 0..1
};
struct SampleNode {
    std::uint32_t parent = 0;    // number of a node; node 0 has no function
    std::uint32_t function = 0;  // number in SampleReport::places
    std::uint64_t self = 0;
    std::uint64_t total = 0;
};
struct SampleReport {
    std::uint64_t count = 0;
    std::uint64_t cut = 0;             // samples of which the target left outer callers out
    std::vector<SampleRow> functions;  // unsorted
    std::vector<FunctionPlace> places;
    std::vector<SampleNode> nodes;  // parents first
};

// Counts of one PMU event: as counted, and `corrected`: less the events that recording adds.
struct EventCell {
    std::uint64_t calls = 0;  // that were counted
    std::uint64_t total = 0;  // in a recursive function once; in the profile once for each call
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
    bool corrected = false;  // the number of events that recording adds is known
};
struct EventTable {
    std::vector<EventColumn> columns;           // by number; empty: nothing was counted
    std::vector<EventRow> rows;                 // by address
    std::vector<std::vector<EventCell>> nodes;  // by column and node of the call tree; trace only
};

enum class SortKey : std::uint8_t { self, total, calls, max };

// A function that the target in adaptive mode moved to the profile, or back.
struct MoveRow : FunctionPlace {
    std::uint64_t at_ns = 0;  // since the session's first event
    bool to_profile = false;
    std::uint64_t session = 0;
};

// The values of a register at a function's entries, or of its results.
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
    std::string function;  // the innermost one; empty: none
};

// Interrupts of a core were masked for longer than ever before in its session, by this function.
struct MaskedRow : FunctionPlace {
    std::uint64_t at_ns = 0;  // its end, since the session's first event
    std::uint64_t length_ns = 0;
    unsigned core = 0;
    std::uint64_t session = 0;
};

// One counter of `integrity`. A counter that spoils a recording is zero in a clean one.
struct IntegrityItem {
    const char* name;
    std::uint64_t value;
    bool spoils;
};

struct Integrity {
    std::vector<IntegrityItem> items;  // generated and its summands, corrupt_frames, gaps first
    bool at_least = false;             // generated is a lower bound
    bool complete = false;             // every core of the last session sent its final stats
    bool clean = false;                // complete, and no counter that spoils is above zero

    std::uint64_t value(std::string_view name) const;  // 0: there is no such item
};

// How many of the target's records the recording lacks, without those that flight mode overwrites.
struct Loss {
    std::uint64_t events = 0;        // records that the target generated
    std::uint64_t dropped = 0;       // the ring was full: the line is too slow
    std::uint64_t lost = 0;          // on the line
    std::uint64_t unhooked = 0;      // calls beyond the shadow stack: they have no record
    std::vector<std::string> helps;  // options of `record`, and advice

    bool any() const { return (dropped | lost | unhooked) != 0; }
    double share() const {
        return events == 0 ? 0 : static_cast<double>(dropped + lost) / static_cast<double>(events);
    }
};

// The records of a core that the recording lacks between two points in time.
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

// The target's state, by its own stats. Older targets do not send it.
struct TargetRow {
    std::string in_force;       // "graph, lossless"
    std::uint64_t from_ns = 0;  // since the session's first event
    std::uint64_t session = 0;
};
struct TargetFacts {
    bool known = false;
    std::vector<TargetRow> in_force;          // in order of time
    std::optional<std::uint64_t> stopped_ns;  // when a request stopped the recording
    bool keeps_profile = false;
    std::optional<std::uint64_t> read_ns;  // when the profile was last read; nothing: never
    std::vector<std::string> only_there;   // functions moved to the profile after its last read
    std::uint64_t recursions = 0;          // callbacks and captures that were left out
    std::uint32_t sites = 0;
    protocol::RefusedSites refused;
};

// A context of a core in one session, with what the target told of it.
struct ContextRow : ContextTimes {
    std::optional<ContextFacts> facts;
    std::optional<LeftCounts> left;  // nothing: no record tells how the core left it
    std::uint64_t ready = 0;         // on all cores
};
struct ObjectRow : ObjectOfTarget {
    std::uint64_t session = 0;
    std::uint64_t id = 0;
};

// Items that --memory had no room for. The rows "(others)" have these calls, so sums are exact.
struct Others {
    std::uint64_t calls = 0;       // of functions without a row, in the trace and in the profile
    std::uint64_t path_calls = 0;  // of paths that are not in the call tree
    std::uint64_t left_out = 0;    // values, counts of events, marks and gaps that no output has

    bool any() const { return (calls | path_calls | left_out) != 0; }
};

struct Report {
    std::string part;    // of the recording that is shown; empty: all of it
    std::string damage;  // of the line (DamagedChunks::sentence()); empty: none
    std::string kept;    // a glob: the rows that keep_functions() kept; empty: all
    Others others;
    std::string build_id;  // hexadecimal
    std::string image;
    std::string board;
    std::uint64_t clock_hz = 0;
    protocol::Architecture architecture{};
    protocol::Clock clock{};
    bool calibrated = false;  // false: corrected times are as recorded
    std::array<protocol::Overhead, protocol::overhead_count> overheads{};
    std::int32_t landing_pad = 0;     // hello's
    std::int64_t subtracted_ns = 0;   // from all self times of `functions` and `profile` together
    std::uint64_t below_zero_ns = 0;  // overhead beyond self times, which are 0 then
    bool raw = false;                 // texts show, and sort by, times as recorded
    bool on_cpu = false;              // times of calls are those on the CPU
    unsigned cores = 0;
    bool lossless = false;
    bool flight = false;
    std::uint64_t duration_ns = 0;
    std::uint64_t tracer_ns = 0;
    std::uint64_t sessions = 0;
    Integrity integrity;
    std::vector<MissingRow> missing;     // in the order of the recording
    SplitBy split = SplitBy::nothing;    // by task or core: `functions` has a row for each group
    std::vector<std::string> groups;     // names of tasks, or numbers of cores; outside text
    std::vector<FunctionRow> functions;  // unsorted
    std::vector<FunctionRow>
        by_number;             // by the profile's function number; if split, only places and calls
    std::vector<Times> nodes;  // by node of the call tree, corrected
    std::vector<Times> raw_nodes;      // likewise, as recorded
    std::vector<bool> no_landing_pad;  // by function number
    std::uint64_t read_out = 0;        // number of the profile's last read-out; 0: none
    std::vector<ProfileRow> profile;   // unsorted
    bool adaptive = false;  // true: `functions` has the sums of the trace and the profile
    std::uint64_t moves = 0;
    std::vector<MoveRow> moved;
    TargetFacts target;
    SampleReport samples;
    EventTable events;  // of calls in the trace
    EventTable profile_events;
    protocol::EventCosts event_costs;
    SortKey sort = SortKey::self;       // for the events in texts
    std::size_t top = 0;                // likewise: how many rows; 0: all
    std::vector<CapturedRow> captured;  // by address
    std::map<std::uint32_t, ValueSeries> counters;
    std::vector<MarkRow> marks;
    std::vector<MaskedRow> masked;
    std::vector<ContextRow> contexts;  // in the order of the recording's sessions
    std::vector<ObjectRow> objects;    // by session and id

    // The times of a node of the call tree, as texts show them.
    const Times& of_node(std::size_t node) const { return raw ? raw_nodes[node] : nodes[node]; }
    // True if `functions` has a function. Interrupts do not count: any recorder records them.
    bool has_calls() const;
    // True if a core ran more than one context.
    bool has_tasks() const;
};
// True if texts have the time on the CPU beside the total.
inline bool shows_cpu(const Report& report) { return report.has_tasks() && !report.on_cpu; }

// Converts an overhead of a hello, in 1/256 ticks.
double overhead_ns(std::int32_t fixed, std::uint64_t clock_hz);
const char* clock_name(const Report& report);
const char* recorder_name(std::size_t index);  // protocol::overhead_index()
// The place of an interrupt (interrupt_offset()).
FunctionPlace interrupt_place(std::uint32_t offset);
// A place in this function, or in an unknown one (null), which gets the address as its name.
FunctionPlace place_of(std::uint64_t address, const Function* function);

// `symbols` may be null, as in make_report().
Integrity integrity_of(const Profile& profile, const nsc::Counters& counters,
                       const Symbols* symbols);

// Returns how many of these functions have no patch site in the image. Without symbols it returns
// by how many they exceed the image's number of sites. No target makes a record of such a function.
// (integrity.cpp)
std::uint64_t unknown_sites(const std::set<std::uint32_t>& offsets, const HelloInfo& hello,
                            const Symbols* symbols);
// For Profile::know_code(). Calls `symbols` when a path appears first; null: no facts are known.
CodeOfCalls code_of_calls(std::function<const Symbols*()> symbols);

// A function's name, that of a task or a core ("core 1"), or what stands for unknown callers.
std::string name_of_node(const Report& report, const CallTree::Node& node);

// Why there is no report: the recording has no readable hello.
std::string no_report_sentence(const nsc::Counters& counters);

// `symbols` may be null: then addresses name functions. Throws Error if the symbols are of another
// image, or if the recording has no readable hello.
Report make_report(const Profile& profile, const nsc::Counters& counters, const Symbols* symbols,
                   bool raw = false);

// Sorts by `key`, the largest first, then by name; keeps the first `top` (0: all). `raw`: by times
// as recorded, not by corrected ones.
void sort_rows(std::vector<FunctionRow>& rows, SortKey key, std::size_t top, bool raw = true);
void sort_rows(std::vector<ProfileRow>& rows, SortKey key, std::size_t top, bool raw = true);
void sort_rows(std::vector<SampleRow>& rows, SortKey key, std::size_t top);  // total, or else self
void sort_rows(std::vector<EventRow>& rows, SortKey key, std::size_t top, bool raw);  // first event

// The times of a row that a text shows.
inline std::uint64_t total_of(const TimedRow& row, bool raw) {
    return raw ? row.total_ns : row.corrected_total_ns;
}
inline std::uint64_t cpu_of(const FunctionRow& row, bool raw) {
    return raw ? row.cpu_ns : row.corrected_cpu_ns;
}
inline std::uint64_t self_of(const TimedRow& row, bool raw) {
    return raw ? row.self_ns : row.corrected_self_ns;
}
inline const std::optional<CallTimes>& call_of(const TimedRow& row, bool raw) {
    return raw ? row.call : row.corrected_call;
}
inline const std::array<std::uint64_t, 2>& percentiles_of(const ProfileRow& row, bool raw) {
    return raw ? row.percentiles_ns : row.corrected_percentiles_ns;
}
inline std::uint64_t total_of(const EventCell& cell, bool raw) {
    return raw ? cell.total : cell.corrected_total;
}
inline std::uint64_t self_of(const EventCell& cell, bool raw) {
    return raw ? cell.self : cell.corrected_self;
}

// "src/lvm.c:1139": the last two components, enough to find it, short enough for a table.
std::string short_place(const FunctionPlace& row);
// Which recorders and mode were in force, and when (head.cpp): "graph, lossless until 1.2 s; then
// profile, adaptive". For an older target: adaptive if it ever was, else its first mode.
std::string mode_text(const Report& report);
// "680 ms recorded: 34.0 ms of the program, 646 ms of the tracer". In lossless mode: "34.0 ms of
// the program recorded; it stood still for 646 ms while the tracer sent".
std::string recorded_text(const Report& report);

// A line above the tables; there is none for a topic without news.
struct HeadLine {
    const char* name;
    std::string text;
    bool spoils;  // the report lacks figures
};
std::vector<HeadLine> head_lines(const Report& report);

// The facts that a recording of this target will lack, one sentence each.
std::vector<std::string> shortcomings(const HelloInfo& hello);
void add_target(Report& report, const Profile& profile);               // after `moved`
void json_target(nlohmann::ordered_json& json, const Report& report);  // `target`, if it is known
std::string text_report(const Report& report);
std::string json_report(const Report& report);
std::string csv_report(const Report& report);

struct GraphOptions {
    unsigned depth = 0;    // 0: no limit
    double min_share = 0;  // of the recording's whole time, 0..1
};

// Contexts and objects (tasks.cpp).
void add_contexts(Report& report, const Profile& profile);
void json_contexts(nlohmann::ordered_json& json, const Report& report);

// Values besides times (captured.cpp). Texts end with an empty line, or are empty.
void add_captured(Report& report, const Profile& profile);
std::string text_captured(const Report& report);
std::string text_marks(const Report& report);

// Samples (samples.cpp): likewise.
void add_samples(Report& report, const Profile& profile, const Symbols* symbols);
// Adds `samples` to `json` if there are any, with `nodes` for `graph`.
void json_samples(nlohmann::ordered_json& json, const Report& report,
                  const GraphOptions* graph = nullptr);
std::string text_samples(const Report& report);
std::string text_sampled_graph(const Report& report, const GraphOptions& options);

// Events (events.cpp): likewise. `local`: the functions without a landing pad, by function number.
// The two functions take a site offset.
void add_events(Report& report, const Profile& profile, const std::vector<bool>& local,
                const std::function<FunctionPlace(std::uint32_t)>& place_of,
                const std::function<bool(std::uint32_t)>& is_local);
void json_events(nlohmann::ordered_json& json, const Report& report);  // after `functions`
nlohmann::ordered_json json_node_events(const Report& report, std::uint32_t node);
std::string csv_event_heads(const EventTable& table);  // each begins with a comma
std::string csv_events(const EventTable& table, std::uint64_t address);
std::string text_events(const Report& report);

// Missing records (loss.cpp). A row's self time is doubtful if a gap lies in its calls, or if its
// core dropped records while one of them was open, or had calls beyond the shadow stack. The tracer
// does not hook such a call, so the call's time is in its caller's self time.
Loss loss_of(const Report& report);
std::string beyond_shadow_stack(std::uint64_t calls);
std::string loss_line(const Report& report);    // empty: nothing is missing
std::string others_line(const Report& report);  // empty: all items had room
inline bool has_gaps(const FunctionRow& row) { return row.incomplete != 0 || row.lost != 0; }
inline bool is_doubtful(const FunctionRow& row) { return has_gaps(row) || row.dropped != 0; }

// The overhead per call that was subtracted from the times in the text, or why none was.
std::string overhead_line(const Report& report);
// "integrity: generated 9 = delivered 9 + dropped 0 + lost 0; corrupt_frames 0, gaps 0", and all
// other counters that are not zero.
std::string integrity_line(const Integrity& integrity);

std::string text_graph(const Report& report, const Profile& profile, const GraphOptions& options);
std::string json_graph(const Report& report, const Profile& profile, const GraphOptions& options);

}  // namespace nopscope::host
