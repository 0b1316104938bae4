// SPDX-License-Identifier: Apache-2.0
// CTF 1.8 (the Common Trace Format): a directory with `metadata` and one stream of packets for each
// core. An event begins with one word: 5 bits of class and the low 27 bits of its time. If these
// bits are not enough, 13 bytes replace them.
//
// Switches of tasks are events of the names and fields that LTTng gives those of Linux. With them
// the trace says that it is a kernel's, so that Trace Compass shows its views of a kernel.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "host-tools/base/text.hpp"
#include "host-tools/image/arch/pmu_events.hpp"
#include "host-tools/views/export/ctf_event.hpp"
#include "host-tools/views/export/formats.hpp"
#include "host-tools/views/export/lanes.hpp"
#include "host-tools/views/export/little_endian.hpp"

namespace nopscope::host {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t ctf_magic = 0xc1fc1fc1;
constexpr std::size_t packet_bytes = std::size_t{1} << 18;
constexpr std::size_t packet_head_bytes = 4 + 5 * 8 + 4;

enum Class : std::uint8_t {
    entry_class,
    return_class,
    point_class,
    whole_class,
    gap_class,
    mark_class,
    counter_class,
    value_class,
    sample_class,
    console_class,
    function_class,
    utc_class,
    events_class,
    masked_class,
    switch_class,
    wakeup_class
};

constexpr char metadata_start[] = R"(/* CTF 1.8 */

typealias integer { size = 8; align = 8; signed = false; } := u8;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
typealias integer { size = 64; align = 8; signed = true; } := s64;

trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; }; };
)";
constexpr char metadata_types[] = R"(
typealias integer { size = 64; align = 8; signed = false; map = clock.target.value; } := time64;
typealias integer { size = 27; align = 1; signed = false; map = clock.target.value; } := time27;
)";
constexpr char metadata_stream[] = R"(
struct event_header {
    enum : integer { size = 5; align = 1; signed = false; } { compact = 0 ... 30, extended = 31 } id;
    variant <id> {
        struct { time27 timestamp; } compact;
        struct { u32 id; time64 timestamp; } extended;
    } v;
} align(8);
stream {
    packet.context := struct { time64 timestamp_begin; time64 timestamp_end; u64 content_size; u64 packet_size;
                               u64 events_discarded; u32 cpu_id; };
    event.header := struct event_header;
    event.context := struct { u32 context; };
};
event { id = 0; name = "entry"; fields := struct { function_number function; }; };
event { id = 1; name = "return"; fields := struct { function_number function; left how; }; };
event { id = 2; name = "point"; fields := struct { function_number function; }; };
event { id = 3; name = "whole"; fields := struct { function_number function; u64 begin; u64 end; u32 depth; }; };
event { id = 4; name = "gap"; fields := struct { u64 from; u64 to; u64 lost; u64 overwritten; u64 dropped; }; };
event { id = 5; name = "mark"; fields := struct { u32 id; }; };
event { id = 6; name = "counter"; fields := struct { u32 id; s64 value; }; };
event { id = 7; name = "value"; fields := struct { function_number function; captured what; s64 value; }; };
event { id = 8; name = "sample"; fields := struct { u32 depth; function_number path[depth]; }; };
event { id = 9; name = "console"; fields := struct { string text; }; };
event { id = 10; name = "function"; fields := struct { function_number function; u64 address; string file; u32 line; }; };
event { id = 11; name = "utc"; fields := struct { u64 time; u64 utc; u64 error; }; };
event { id = 12; name = "events"; fields := struct { function_number function; string name; u64 count; }; };
event { id = 13; name = "masked"; fields := struct { function_number function; u64 from; u64 to; }; };
)";

constexpr char metadata_tasks[] = R"(event { id = 14; name = "sched_switch"; fields := struct {
    string _prev_comm; s32 _prev_tid; s32 _prev_prio; s64 _prev_state;
    string _next_comm; s32 _next_tid; s32 _next_prio; }; };
event { id = 15; name = "sched_wakeup"; fields := struct { string _comm; s32 _tid; s32 _prio; s32 _target_cpu; }; };
)";

// As in the events of LTTng, from which Trace Compass knows a dead task by bit 6.
constexpr std::int64_t ctf_states[] = {0, 1, 4, 64};

// Returns a string literal of the metadata.
std::string literal(std::string_view text) {
    std::string out = "\"";
    for (const char c : for_cell(text)) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

class Ctf : public EventSink {
public:
    Ctf(const Output& output, TimeAxis axis) : directory_(output.path()), axis_(axis) {}

    bool wants_tasks() const override { return true; }
    void on_shown_part(const std::string& part) override { part_ = part; }
    void on_function(std::uint32_t number, const FunctionPlace& place) override {
        functions_[number] = literal(place.name);
        places_[number] = place;
    }
    void on_track(const Track& track) override { stream(track.core); }
    void on_switch(const CoreSwitch& to) override {
        lanes_.on_switch(to, [this](const CoreSwitch& shown, TaskState left) {
            const std::uint32_t context = (shown.from ? shown.from : shown.to)->context;
            add_switch(event({0, shown.core, context}, switch_class, shown.at), shown,
                       value_of(left, ctf_states));
            has_switches_ = true;
        });
    }
    void on_ready(const Track& by, const Track& task, Nanoseconds now) override {
        lanes_.on_ready(task);
        add_task(event(by, wakeup_class, now), task, task.core).add(task.core);
        has_switches_ = true;
    }
    void entry(const Track& track, std::uint32_t function, Nanoseconds now) override {
        told(track, function, now);
        event(track, entry_class, now).add(function);
    }
    void leave(const Track& track, const EndedCall& call) override {
        told(track, call.function, call.to);
        event(track, return_class, call.to)
            .add(call.function)
            .add(static_cast<std::uint8_t>(call.how));
    }
    void point(const Track& track, std::uint32_t function, Nanoseconds now) override {
        told(track, function, now);
        event(track, point_class, now).add(function);
    }
    void whole(const Track& track, std::uint32_t function, Nanoseconds from, Nanoseconds to,
               std::uint32_t depth) override {
        told(track, function, to);
        event(track, whole_class, to).add(function).add(from).add(to).add(depth);
    }
    // The event has its core's last time. Its fields say where the gap lies.
    void absence(std::uint32_t core, const Absence& absence) override {
        Stream& of = stream(core);
        of.discarded += absence.lost + absence.overwritten + absence.dropped;
        event({0, core, 0}, gap_class, of.last)
            .add(absence.from)
            .add(absence.to)
            .add(absence.lost)
            .add(absence.overwritten)
            .add(absence.dropped);
    }
    void mark(const Track& track, std::uint32_t id, Nanoseconds now) override {
        event(track, mark_class, now).add(id);
    }
    void counter(const Track& track, std::uint32_t id, std::int64_t value,
                 Nanoseconds now) override {
        event(track, counter_class, now).add(id).add(value);
    }
    void on_target(const HelloInfo& hello) override { architecture_ = hello.architecture; }
    void value(const Track& track, const CapturedValue& captured, Nanoseconds now) override {
        told(track, captured.function, now);
        event(track, value_class, now)
            .add(captured.function)
            .add(static_cast<std::uint8_t>(captured.what))
            .add(captured.value);
    }
    void events(const Track& track, std::uint32_t function, std::span<const EventCount> counts,
                Nanoseconds now) override {
        for (const EventCount& one : counts) {
            event(track, events_class, now)
                .add(function)
                .text(event_name(one.number))
                .add(one.count);
        }
    }
    // The event has the end's time.
    void masked(const Track& track, std::uint32_t function, Nanoseconds from,
                Nanoseconds to) override {
        told(track, function, to);
        event(track, masked_class, to).add(function).add(from).add(to);
    }
    void sample(const Track& track, std::span<const std::uint32_t> path, Nanoseconds now) override {
        for (const std::uint32_t function : path) told(track, function, now);
        CtfEvent& to = event(track, sample_class, now).add(static_cast<std::uint32_t>(path.size()));
        for (const std::uint32_t function : path) to.add(function);
    }
    void console(std::string_view bytes, Nanoseconds) override {
        Stream& of = stream(0);
        event({}, console_class, of.last).text(for_terminal(bytes));
    }
    void time_pair(const TimePair& pair) override {
        if (!first_pair_) first_pair_ = pair;
        event({}, utc_class, stream(0).last).add(pair.time).add(pair.utc_ns).add(pair.error_ns);
    }
    void finish() override;

private:
    protocol::Architecture architecture_{};

    struct Stream {
        explicit Stream(const fs::path& path) : file(path) {}
        FileWriter file;
        CtfEvent packet;  // events of the current packet
        Nanoseconds begin = 0;
        Nanoseconds last = 0;
        std::uint64_t discarded = 0;
    };

    Stream& stream(std::uint32_t core) {
        if (core >= streams_.size()) streams_.resize(core + 1);
        if (!streams_[core])
            streams_[core] = std::make_unique<Stream>(directory_ / fmt::format("core{}", core));
        return *streams_[core];
    }
    // Writes where a function is defined, before its first event.
    void told(const Track& track, std::uint32_t function, Nanoseconds now) {
        if (places_.empty()) [[likely]]
            return;
        const auto found = places_.find(function);
        if (found == places_.end()) return;
        const FunctionPlace place = std::move(found->second);
        places_.erase(found);
        event(track, function_class, now)
            .add(function)
            .add(place.address)
            .text(for_cell(place.file))
            .add(place.line);
    }
    CtfEvent& event(const Track& track, Class which, Nanoseconds now) {
        Stream& of = stream(track.core);
        if (of.packet.bytes().size() >= packet_bytes) flush(of, track.core);
        const bool is_first = of.packet.bytes().empty();
        if (is_first) of.begin = now;
        of.packet.begin(which, now, is_first ? 0 : of.last, is_first);
        of.last = now;
        return of.packet.add(track.context);
    }
    void flush(Stream& of, std::uint32_t core) {
        const std::string& events = of.packet.bytes();
        const std::uint64_t bits = 8 * (packet_head_bytes + events.size());
        char head[packet_head_bytes];
        char* to = put_little(head, ctf_magic);
        for (const std::uint64_t number : {of.begin, of.last, bits, bits, of.discarded})
            to = put_little(to, number);
        put_little(to, core);
        of.file.write({head, sizeof head});
        of.file.write(events);
        of.packet.clear();
    }

    std::string clock() const;

    fs::path directory_;
    TimeAxis axis_;
    std::string part_;
    std::optional<TimePair> first_pair_;
    std::map<std::uint32_t, std::string> functions_;           // by number, as literals
    std::unordered_map<std::uint32_t, FunctionPlace> places_;  // functions without an event so far
    std::vector<std::unique_ptr<Stream>> streams_;
    Lanes lanes_;
    bool has_switches_ = false;  // or ready tasks
};

// A reader adds the offset to the timestamps. So they are UTC according to the first clock pair.
std::string Ctf::clock() const {
    std::string text = "clock { name = target; freq = 1000000000; description = ";
    if (!first_pair_) return text + "\"the target's clock\"; offset = 0; };\n";
    const TimePair& pair = *first_pair_;
    if (pair.utc_ns < pair.time) return text + literal(time_pair_text(pair)) + "; offset = 0; };\n";
    return text + fmt::format("{}; precision = {}; offset = {}; absolute = true; }};\n",
                              literal(time_pair_text(pair)), pair.error_ns,
                              pair.utc_ns - pair.time);
}

void Ctf::finish() {
    for (std::uint32_t core = 0; core < streams_.size(); ++core) {
        if (!streams_[core]) continue;
        if (!streams_[core]->packet.bytes().empty()) flush(*streams_[core], core);
        streams_[core]->file.close();
    }
    FileWriter file(directory_ / "metadata");
    file.write(metadata_start);
    file.write(fmt::format(
        "env {{ tracer_name = \"nopscope\"; tracer_major = 1; tracer_minor = 0; times = {};{}{} "
        "}};\n",
        literal(times_text(axis_)), part_.empty() ? "" : " part = " + literal(part_) + ";",
        has_switches_ ? " domain = \"kernel\";" : ""));
    file.write(clock());
    file.write(metadata_types);
    if (has_switches_) {
        file.write("typealias integer { size = 32; align = 8; signed = true; } := s32;\n");
    }
    file.write("typealias enum : u32 {");
    for (const auto& [number, name] : functions_)
        file.write(fmt::format("\n    {} = {},", name, number));
    // An enum may not be empty.
    file.write(fmt::format("\n    \"(none)\" = {}\n}} := function_number;\n", ~0u));
    file.write("typealias enum : u8 {");
    for (const Left how : {Left::returned, Left::unwound, Left::gap, Left::open}) {
        file.write(fmt::format(" \"{}\" = {},", left_text(how), static_cast<unsigned>(how)));
    }
    file.write(" } := left;\ntypealias enum : u8 {");
    for (std::uint32_t what = 0; what <= CapturedPart::result; ++what) {
        file.write(fmt::format(" \"{}\" = {},", captured_name(architecture_, what), what));
    }
    file.write(" } := captured;\n");
    file.write(metadata_stream);
    if (has_switches_) file.write(metadata_tasks);
    file.close();
}

}  // namespace

std::unique_ptr<EventSink> ctf_sink(const Output& output, TimeAxis axis) {
    return std::make_unique<Ctf>(output, axis);
}

}  // namespace nopscope::host
