// SPDX-License-Identifier: Apache-2.0
// An SQLite database; docs/exports.md describes its tables. A call's row is written when it ends,
// in one transaction without a journal. The file gets its name only when it is whole.
#include <sqlite3.h>

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/calls/event_sink.hpp"
#include "host-tools/image/arch/pmu_events.hpp"
#include "host-tools/views/export/formats.hpp"

namespace nopscope::host {
namespace {

constexpr char schema[] = R"(
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA user_version = 5;
BEGIN;
CREATE TABLE about(key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE clock_pairs(time_ns INTEGER NOT NULL, utc_ns INTEGER NOT NULL, error_ns INTEGER NOT NULL,
                         exchanged INTEGER NOT NULL);
CREATE TABLE functions(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, file TEXT, line INTEGER,
                       address INTEGER);
CREATE TABLE tracks(id INTEGER PRIMARY KEY, core INTEGER NOT NULL, context INTEGER NOT NULL, task TEXT);
CREATE TABLE calls(id INTEGER PRIMARY KEY, parent INTEGER, track INTEGER NOT NULL, function INTEGER NOT NULL,
                   depth INTEGER NOT NULL, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
                   duration_ns INTEGER NOT NULL, self_ns INTEGER NOT NULL, cpu_ns INTEGER NOT NULL,
                   how TEXT NOT NULL);
CREATE TABLE sums(list TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, file TEXT, line INTEGER, address INTEGER,
                  calls INTEGER NOT NULL, total_ns INTEGER NOT NULL, self_ns INTEGER NOT NULL, min_ns INTEGER,
                  mean_ns INTEGER, max_ns INTEGER, raw_total_ns INTEGER NOT NULL, raw_self_ns INTEGER NOT NULL,
                  cpu_ns INTEGER, raw_cpu_ns INTEGER, doubtful INTEGER NOT NULL);
CREATE TABLE points(track INTEGER NOT NULL, function INTEGER NOT NULL, time_ns INTEGER NOT NULL);
CREATE TABLE whole_calls(track INTEGER NOT NULL, function INTEGER NOT NULL, depth INTEGER NOT NULL,
                         begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL);
CREATE TABLE gaps(core INTEGER NOT NULL, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, lost INTEGER NOT NULL,
                  overwritten INTEGER NOT NULL, dropped INTEGER NOT NULL);
CREATE TABLE marks(track INTEGER NOT NULL, id INTEGER NOT NULL, time_ns INTEGER NOT NULL);
CREATE TABLE counters(track INTEGER NOT NULL, id INTEGER NOT NULL, time_ns INTEGER NOT NULL, value INTEGER NOT NULL);
CREATE TABLE captured(track INTEGER NOT NULL, function INTEGER NOT NULL, what TEXT NOT NULL, time_ns INTEGER NOT NULL,
                      value INTEGER NOT NULL);
CREATE TABLE call_events(call INTEGER NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL);
CREATE TABLE masked(core INTEGER NOT NULL, function INTEGER NOT NULL, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL);
CREATE TABLE samples(id INTEGER PRIMARY KEY, track INTEGER NOT NULL, time_ns INTEGER NOT NULL);
CREATE TABLE sample_frames(sample INTEGER NOT NULL, depth INTEGER NOT NULL, function INTEGER NOT NULL);
CREATE TABLE console(time_ns INTEGER NOT NULL, text TEXT NOT NULL);
CREATE VIEW named_slices AS
    SELECT c.id, c.parent, t.core, t.context, t.task, f.kind, f.name, c.depth, c.begin_ns, c.end_ns, c.duration_ns,
           c.end_ns - c.begin_ns AS wall_ns, c.self_ns, c.cpu_ns, c.how
      FROM calls c JOIN functions f ON f.id = c.function JOIN tracks t ON t.id = c.track;
CREATE VIEW named_calls AS
    SELECT id, parent, core, context, task, kind, name, depth, begin_ns, end_ns, duration_ns, wall_ns, self_ns, cpu_ns, how
      FROM named_slices WHERE kind IN ('function', 'interrupt');
)";
constexpr char at_the_end[] = R"(
CREATE INDEX calls_by_function ON calls(function);
CREATE INDEX calls_by_parent ON calls(parent);
CREATE INDEX call_events_by_call ON call_events(call);
COMMIT;
)";

class Sqlite : public EventSink {
public:
    Sqlite(const Output& output, TimeAxis axis) : name_(output.name()), is_ours_(true) {
        if (output.is_gzipped()) {
            throw Error(output.name() +
                            ": sqlite seeks in its file, which cannot be compressed "
                            "meanwhile: give a name without .gz",
                        Exit::usage);
        }
        check(sqlite3_open(output.path().c_str(), &database_));
        begin(axis);
    }
    Sqlite(sqlite3* database, TimeAxis axis)
        : name_("the temporary database"), is_ours_(false), database_(database) {
        begin(axis);
    }
    ~Sqlite() override { close(); }
    Sqlite(const Sqlite&) = delete;
    Sqlite& operator=(const Sqlite&) = delete;

    bool wants_tasks() const override { return true; }
    void on_shown_part(const std::string& part) override {
        insert("about", Text("part"), Text(part));
    }
    void on_target(const HelloInfo& hello) override {
        if (std::exchange(has_session_, true)) return;
        insert("about", Text("image"), Text(for_cell(hello.image)));
        insert("about", Text("board"), Text(for_cell(hello.board)));
        insert("about", Text("build_id"), Text(to_hex(hello.build_id)));
    }
    void on_function(std::uint32_t number, const FunctionPlace& place) override {
        insert("functions", number, Text(kind_of(number, place)), Text(for_cell(place.name)),
               Optional{for_cell(place.file)}, place.line, place.address);
    }
    void on_track(const Track& track) override {
        last_ended_.resize(track.number + 1);
        insert("tracks", track.number, track.core, track.context,
               Optional{track.task != nullptr ? for_cell(track.task->label) : std::string()});
    }
    void point(const Track& track, std::uint32_t function, Nanoseconds now) override {
        insert("points", track.number, function, now);
    }
    void whole(const Track& track, std::uint32_t function, Nanoseconds from, Nanoseconds to,
               std::uint32_t depth) override {
        insert("whole_calls", track.number, function, depth, from, to);
    }
    void absence(std::uint32_t core, const Absence& absence) override {
        insert("gaps", core, absence.from, absence.to, absence.lost, absence.overwritten,
               absence.dropped);
    }
    void mark(const Track& track, std::uint32_t id, Nanoseconds now) override {
        insert("marks", track.number, id, now);
    }
    void counter(const Track& track, std::uint32_t id, std::int64_t value,
                 Nanoseconds now) override {
        insert("counters", track.number, id, now, value);
    }
    void value(const Track& track, const CapturedValue& captured, Nanoseconds now) override {
        insert("captured", track.number, captured.function, Text(captured.name), now,
               captured.value);
    }
    void events(const Track& track, std::uint32_t, std::span<const EventCount> counts,
                Nanoseconds) override {
        for (const EventCount& one : counts) {
            insert("call_events", last_ended_[track.number], one.number,
                   Text(event_name(one.number)), one.count);
        }
    }
    void masked(const Track& track, std::uint32_t function, Nanoseconds from,
                Nanoseconds to) override {
        insert("masked", track.core, function, from, to);
    }
    void sample(const Track& track, std::span<const std::uint32_t> path, Nanoseconds now) override {
        insert("samples", ++sample_count_, track.number, now);
        for (std::size_t i = 0; i < path.size(); ++i)
            insert("sample_frames", sample_count_, i, path[i]);
    }
    void console(std::string_view bytes, Nanoseconds now) override {
        insert("console", now, Text(for_terminal(bytes)));
    }
    void time_pair(const TimePair& pair) override {
        insert("clock_pairs", pair.time, pair.utc_ns, pair.error_ns, pair.exchanged);
    }
    bool wants_sums() const override { return true; }
    void sums(const Report& report) override {
        for (const FunctionRow& row : report.functions)
            add_sums("functions", row, row.corrected.cpu_ns, row.cpu_ns, is_doubtful(row));
        for (const ProfileRow& row : report.profile) add_sums("profile", row, {}, {}, false);
    }
    void finish() override {
        check(sqlite3_exec(database_, at_the_end, nullptr, nullptr, nullptr));
        close();
    }

    void leave(const Track& track, const EndedCall& call) override {
        Nullable parent;
        if (call.parent != 0) parent = call.parent;
        insert("calls", call.number, parent, track.number, call.function, call.depth, call.from,
               call.to, call.duration, call.self, call.cpu, Text(left_text(call.how)));
        last_ended_[track.number] = call.number;
    }

private:
    using Text = std::string;
    using Nullable = std::optional<std::uint64_t>;
    struct Optional {
        std::string text;  // empty: null
    };

    void begin(TimeAxis axis) {
        check(sqlite3_exec(database_, schema, nullptr, nullptr, nullptr));
        insert("about", Text("exporter"), Text("nopscope"));
        insert("about", Text("times"), Text(times_text(axis)));
    }
    void add_sums(const char* list, const TimedRow& row, Nullable cpu_ns, Nullable raw_cpu_ns,
                  bool doubtful) {
        const std::optional<CallTimes>& call = row.corrected.call;
        const auto of_call = [&](std::uint64_t CallTimes::*figure) {
            return call ? Nullable{*call.*figure} : Nullable{};
        };
        insert("sums", Text(list), Text(row.interrupt ? "interrupt" : "function"),
               Text(for_cell(row.name)), Optional{for_cell(row.file)}, row.line, row.address,
               row.calls, row.corrected.total_ns, row.corrected.self_ns,
               of_call(&CallTimes::min_ns), of_call(&CallTimes::mean_ns),
               of_call(&CallTimes::max_ns), row.total_ns, row.self_ns, cpu_ns, raw_cpu_ns,
               doubtful);
    }
    static const char* kind_of(std::uint32_t number, const FunctionPlace& place) {
        if (number == tracer_function) return "tracer";
        if (number == away_function) return "other context";
        return place.interrupt ? "interrupt" : "function";
    }

    // `table`: a literal, of which only the address is compared.
    template <typename... Values>
    void insert(const char* table, const Values&... values) {
        sqlite3_stmt*& statement = inserts_[table];
        if (statement == nullptr) {
            std::string text = fmt::format("INSERT INTO {} VALUES(?", table);
            for (std::size_t i = 1; i < sizeof...(values); ++i) text += ",?";
            check(sqlite3_prepare_v2(database_, (text + ")").c_str(), -1, &statement, nullptr));
        }
        int at = 0;
        (bind(statement, ++at, values), ...);
        if (sqlite3_step(statement) != SQLITE_DONE) fail();
        sqlite3_reset(statement);
    }
    template <typename Number>
    void bind(sqlite3_stmt* to, int at, const Number& value) {
        check(sqlite3_bind_int64(to, at, static_cast<sqlite3_int64>(value)));
    }
    void bind(sqlite3_stmt* to, int at, const Text& value) {
        check(sqlite3_bind_text(to, at, value.data(), static_cast<int>(value.size()),
                                SQLITE_TRANSIENT));
    }
    void bind(sqlite3_stmt* to, int at, const Optional& value) {
        value.text.empty() ? check(sqlite3_bind_null(to, at)) : bind(to, at, value.text);
    }
    void bind(sqlite3_stmt* to, int at, const Nullable& value) {
        value ? bind(to, at, *value) : check(sqlite3_bind_null(to, at));
    }
    void check(int result) const {
        if (result != SQLITE_OK) fail();
    }
    [[noreturn]] void fail() const {
        throw Error(fmt::format("cannot write {}: {}", name_, sqlite3_errmsg(database_)));
    }
    void close() {
        for (const auto& [table, statement] : inserts_) sqlite3_finalize(statement);
        inserts_.clear();
        sqlite3* const database = std::exchange(database_, nullptr);
        if (is_ours_) sqlite3_close(database);
    }

    std::string name_;
    bool is_ours_;
    sqlite3* database_ = nullptr;
    bool has_session_ = false;
    std::vector<std::uint64_t> last_ended_;  // number of the last call that ended, by track
    std::uint64_t sample_count_ = 0;
    std::map<const char*, sqlite3_stmt*> inserts_;  // by table, prepared at the first use
};

}  // namespace

std::unique_ptr<EventSink> sqlite_sink(const Output& output, TimeAxis axis) {
    return std::make_unique<Sqlite>(output, axis);
}
std::unique_ptr<EventSink> sqlite_sink(sqlite3* database, TimeAxis axis) {
    return std::make_unique<Sqlite>(database, axis);
}

}  // namespace nopscope::host
