// SPDX-License-Identifier: Apache-2.0
// Perfetto's TracePacket protobuf. A core is a packet sequence. It interns its names, and has its
// own clock with relative timestamps, so an entry takes some 19 bytes and a return 13. A context is
// a thread. Counters, samples, missing parts, and calls from duration records have their own
// tracks. The console is a log.
//
// Perfetto's importer keeps 512 slices open on a track (kMaxDepth). It drops the begin of a deeper
// slice, but not its end; instants of one time nest, too. So a child track has the next 512 levels.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host-tools/base/text.hpp"
#include "host-tools/views/export/formats.hpp"
#include "host-tools/views/export/proto.hpp"

namespace nopscope::host {
namespace {

// Field numbers from Perfetto's protos/perfetto/trace.
namespace trace {
enum : std::uint32_t { packet = 1 };
}
namespace packet {
enum : std::uint32_t {
    clock_snapshot = 6,
    timestamp = 8,
    sequence_id = 10,
    track_event = 11,
    interned_data = 12,
    sequence_flags = 13,
    android_log = 39,
    timestamp_clock_id = 58,
    defaults = 59,
    track_descriptor = 60,
};
}
namespace defaults {
enum : std::uint32_t { track_event = 11, timestamp_clock_id = 58 };
}
namespace clock_snapshot {
enum : std::uint32_t { clocks = 1 };
}
namespace clock {
enum : std::uint32_t { id = 1, timestamp = 2, is_incremental = 3 };
}
namespace event {
enum : std::uint32_t {
    annotations = 4,
    type = 9,
    name_iid = 10,
    track_uuid = 11,
    name = 23,
    counter_value = 30,
    location_iid = 34,
    callstack = 55,
};
}
namespace callstack {
enum : std::uint32_t { frames = 1, function = 1, file = 2, line = 3 };
}
namespace annotation {
enum : std::uint32_t { uint_value = 3, int_value = 4, string_value = 6, name = 10 };
}
namespace interned {
enum : std::uint32_t { event_names = 2, source_locations = 4, iid = 1, name = 2 };
}
namespace location {
enum : std::uint32_t { iid = 1, file = 2, function = 3, line = 4 };
}
namespace descriptor {
enum : std::uint32_t { uuid = 1, name = 2, process = 3, thread = 4, parent = 5, counter = 8 };
}
namespace process {
enum : std::uint32_t { pid = 1, command_line = 2, name = 6 };
}
namespace thread {
enum : std::uint32_t { pid = 1, tid = 2, name = 5 };
}

namespace log {
enum : std::uint32_t {
    events = 1,
    pid = 2,
    tid = 3,
    timestamp = 5,
    tag = 6,
    priority = 7,
    message = 8
};
}

enum Type : std::uint32_t { begin = 1, end = 2, instant = 3, counter_type = 4 };
constexpr std::uint32_t state_cleared = 1;
constexpr std::uint32_t needs_state = 2;
constexpr std::uint32_t real_time = 1;
constexpr std::uint32_t boot_time = 6;
constexpr std::uint32_t log_info = 4;
constexpr std::uint32_t own_clock = 64;

// Track identifiers, by kind and number.
constexpr std::uint64_t process_uuid = 1;
constexpr std::uint64_t uuid(std::uint64_t kind, std::uint64_t number) {
    return kind << 48 | number;
}
constexpr std::uint64_t context_kind = 0;
constexpr std::uint64_t first_context = 16;
constexpr std::uint64_t counter_kind = 1;
constexpr std::uint64_t missing_kind = 2;
constexpr std::uint64_t samples_kind = 3;
constexpr std::uint64_t whole_kind = 4;
constexpr std::uint64_t deeper_kind = 5;

constexpr std::size_t max_depth = 512;
// The track of the 512 levels from 512 x `level` on.
std::uint64_t context_uuid(const Track& track, std::size_t level = 0) {
    return level == 0 ? uuid(context_kind, first_context + track.number)
                      : uuid(deeper_kind, std::uint64_t{track.number} << 16 | level);
}

class Perfetto : public EventSink {
public:
    Perfetto(const Output& output, TimeAxis axis) : file_(output) {
        Proto of;
        of.number(descriptor::uuid, process_uuid);
        of.message(descriptor::process, Proto()
                                            .number(process::pid, 1)
                                            .bytes(process::name, "nopscope, raw times")
                                            .bytes(process::command_line, times_text(axis)));
        packet(Proto().message(packet::track_descriptor, of));
    }

    void on_function(std::uint32_t number, const FunctionPlace& place) override {
        functions_[number] = {to_utf8(without_nul(place.name)), to_utf8(without_nul(place.file)),
                              place.line};
    }
    void on_track(const Track& track) override {
        if (track.core >= cores_.size()) cores_.resize(track.core + 1);
        stacks_.emplace_back();
        const std::string name =
            track.context == 0 ? fmt::format("core {}", track.core) : track_name(track);
        Proto of;
        of.number(descriptor::uuid, context_uuid(track)).number(descriptor::parent, process_uuid);
        of.message(descriptor::thread, Proto()
                                           .number(thread::pid, 1)
                                           .number(thread::tid, 1 + track.number)
                                           .bytes(thread::name, name));
        write_track(track.core + 1, of);
    }

    void entry(const Track& track, std::uint32_t function, Nanoseconds now) override {
        Stack& stack = stacks_[track.number];
        named(track, level(track, stack.depth++), function, now, Type::begin);
        stack.instants = 0;
    }
    void leave(const Track& track, std::uint32_t, Nanoseconds now, Left how) override {
        Core& core = started(track, now);
        Stack& stack = stacks_[track.number];
        stack.instants = 0;
        const std::uint64_t on = level(track, --stack.depth);
        if (how != Left::returned) return leave_otherwise(track, on, core, now, how);
        finish(start(core, track, on, now, Type::end));
    }
    void point(const Track& track, std::uint32_t function, Nanoseconds now) override {
        named(track, instant_on(track, now), function, now, Type::instant);
    }
    void whole(const Track& track, std::uint32_t function, Nanoseconds from, Nanoseconds to,
               std::uint32_t depth) override {
        const std::uint64_t on =
            uuid(whole_kind, std::uint64_t{track.number} << 16 | (depth & 0xffff));
        describe(on, fmt::format("{}: told whole, depth {}", track_name(track), depth));
        at(from, event_on(on, Type::begin).bytes(event::name, functions_[function].name));
        at(to, event_on(on, Type::end));
    }
    void absence(std::uint32_t core, const Absence& absence) override {
        const bool is_drop = absence.lost == 0 && absence.overwritten == 0;
        const std::uint64_t on = uuid(missing_kind, 2 * core + (is_drop ? 1 : 0));
        describe(on, fmt::format("core {}: {}", core, is_drop ? "dropped" : "lost"));
        Proto of = event_on(on, Type::begin).bytes(event::name, "gap");
        annotate(of, "lost", absence.lost);
        annotate(of, "overwritten", absence.overwritten);
        annotate(of, "dropped", absence.dropped);
        at(absence.from, of);
        at(absence.to, event_on(on, Type::end));
    }
    void mark(const Track& track, std::uint32_t id, Nanoseconds now) override {
        at(now, event_on(instant_on(track, now), Type::instant)
                    .bytes(event::name, fmt::format("mark {}", id)));
    }
    void counter(const Track&, std::uint32_t id, std::int64_t value, Nanoseconds now) override {
        const std::uint64_t on = uuid(counter_kind, id);
        describe(on, fmt::format("counter {}", id), true);
        at(now, event_on(on, Type::counter_type).integer(event::counter_value, value));
    }
    void value(const Track& track, const CapturedValue& captured, Nanoseconds now) override {
        const std::string what = captured_name(captured.what);
        Proto of = event_on(instant_on(track, now), Type::instant);
        of.bytes(event::name, functions_[captured.function].name + " " + what);
        of.message(
            event::annotations,
            Proto().bytes(annotation::name, what).integer(annotation::int_value, captured.value));
        at(now, of);
    }
    void sample(const Track& track, std::span<const std::uint32_t> path, Nanoseconds now) override {
        const std::uint64_t on = uuid(samples_kind, track.core);
        describe(on, fmt::format("core {}: samples", track.core));
        Proto stack;
        for (const std::uint32_t function : path) {
            const Function& of = functions_[function];
            Proto frame;
            frame.bytes(callstack::function, of.name);
            if (!of.file.empty())
                frame.bytes(callstack::file, of.file).number(callstack::line, of.line);
            stack.message(callstack::frames, frame);
        }
        at(now, event_on(on, Type::instant)
                    .bytes(event::name, path.empty() ? "sample" : functions_[path.back()].name)
                    .message(event::callstack, stack));
    }
    void console(std::string_view bytes, Nanoseconds now) override {
        // A log's times are the host's. Without a clock pair, the target's clock counts from 1970.
        if (!has_real_time_) time_pair({.time = now, .utc_ns = now});
        packet(
            Proto()
                .number(packet::sequence_id, others_sequence)
                .message(packet::android_log,
                         Proto().message(log::events,
                                         Proto()
                                             .number(log::pid, 1)
                                             .number(log::tid, 1)
                                             .number(log::timestamp, now + utc_minus_time_)
                                             .bytes(log::tag, "console")
                                             .number(log::priority, log_info)
                                             .bytes(log::message, to_utf8(without_nul(bytes))))));
    }
    void time_pair(const TimePair& pair) override {
        has_real_time_ = true;
        utc_minus_time_ = pair.utc_ns - pair.time;
        Proto clocks;
        for (const auto& [id, at] :
             {std::pair{boot_time, pair.time}, std::pair{real_time, pair.utc_ns}}) {
            clocks.message(clock_snapshot::clocks,
                           Proto().number(clock::id, id).number(clock::timestamp, at));
        }
        packet(Proto()
                   .number(packet::sequence_id, others_sequence)
                   .message(packet::clock_snapshot, clocks));
    }
    void finish() override { file_.close(); }

private:
    struct Function {
        std::string name;
        std::string file;
        std::uint32_t line = 0;
    };
    struct Stack {
        std::size_t depth = 0;
        std::size_t levels = 1;    // number of described tracks
        std::size_t instants = 0;  // of time `at`, since the last begin or end
        Nanoseconds at = 0;
    };
    struct Core {
        bool started = false;
        Nanoseconds last = 0;  // by its own clock
        std::uint64_t default_track = 0;
        std::vector<std::string> interned;  // by function's number: the event fields that name it
        std::unordered_map<std::uint32_t, std::string> interned_others;  // not the firmware's sites
    };
    // A packet that is written directly into the file's buffer; packet and event are below 128.
    struct Open {
        char* packet;
        char* event;
        char* end;
    };

    void packet(const Proto& content) {
        file_.write(Proto().message(trace::packet, content).text());
    }
    static Proto event_on(std::uint64_t track, Type type) {
        return Proto().number(event::type, type).number(event::track_uuid, track);
    }
    // A rare event, by the common clock.
    void at(Nanoseconds when, const Proto& of) {
        packet(Proto()
                   .number(packet::timestamp, when)
                   .number(packet::timestamp_clock_id, boot_time)
                   .number(packet::sequence_id, others_sequence)
                   .message(packet::track_event, of));
    }
    void describe(std::uint64_t track, std::string_view name, bool is_counter = false) {
        if (!described_.insert(track).second) return;
        Proto of;
        of.number(descriptor::uuid, track)
            .number(descriptor::parent, process_uuid)
            .bytes(descriptor::name, name);
        if (is_counter) of.message(descriptor::counter, {});
        write_track(others_sequence, of);
    }
    void write_track(std::uint32_t sequence, const Proto& track) {
        packet(
            Proto().number(packet::sequence_id, sequence).message(packet::track_descriptor, track));
    }
    static void annotate(Proto& of, std::string_view name, std::uint64_t value) {
        of.message(event::annotations,
                   Proto().bytes(annotation::name, name).number(annotation::uint_value, value));
    }

    std::uint64_t level(const Track& track, std::size_t depth) {
        if (depth < max_depth) [[likely]]
            return context_uuid(track);
        return deeper(track, std::min<std::size_t>(depth / max_depth, 0xffff));
    }
    [[gnu::noinline]] std::uint64_t deeper(const Track& track, std::size_t level) {
        for (std::size_t& levels = stacks_[track.number].levels; levels <= level; ++levels) {
            Proto of;
            of.number(descriptor::uuid, context_uuid(track, levels));
            of.number(descriptor::parent, context_uuid(track, levels - 1));
            of.bytes(descriptor::name, fmt::format("from depth {} on", levels * max_depth));
            write_track(track.core + 1, of);
        }
        return context_uuid(track, level);
    }
    // The track of an instant. Perfetto nests it inside the other instants of the same time.
    std::uint64_t instant_on(const Track& track, Nanoseconds now) {
        Stack& stack = stacks_[track.number];
        if (std::exchange(stack.at, now) != now) stack.instants = 0;
        return level(track, stack.depth + stack.instants++);
    }

    Core& started(const Track& track, Nanoseconds now) {
        Core& core = cores_[track.core];
        if (!core.started) [[unlikely]]
            begin_sequence(core, track, now);
        return core;
    }
    void begin_sequence(Core& core, const Track& track, Nanoseconds now) {
        core.started = true;
        core.last = now;
        core.default_track = context_uuid(track);
        Proto clocks;
        clocks.message(clock_snapshot::clocks, Proto()
                                                   .number(clock::id, own_clock)
                                                   .number(clock::timestamp, now)
                                                   .number(clock::is_incremental, 1));
        clocks.message(clock_snapshot::clocks,
                       Proto().number(clock::id, boot_time).number(clock::timestamp, now));
        Proto of;
        of.number(packet::sequence_id, track.core + 1)
            .number(packet::sequence_flags, state_cleared);
        of.message(packet::defaults,
                   Proto()
                       .number(defaults::timestamp_clock_id, own_clock)
                       .message(defaults::track_event,
                                Proto().number(event::track_uuid, core.default_track)));
        of.message(packet::clock_snapshot, clocks);
        packet(of);
    }

    Open start(Core& core, const Track& track, std::uint64_t on, Nanoseconds now, Type type) {
        char* to = file_.room(128);
        Open open{};
        *to++ = trace::packet << 3 | 2;
        open.packet = to++;
        *to++ = packet::timestamp << 3;
        to = put_varint(to, now - core.last);
        core.last = now;
        *to++ = packet::sequence_id << 3;
        to = put_varint(to, track.core + 1);
        *to++ = packet::sequence_flags << 3;
        *to++ = needs_state;
        *to++ = packet::track_event << 3 | 2;
        open.event = to++;
        *to++ = event::type << 3;
        *to++ = static_cast<char>(type);
        if (on != core.default_track) [[unlikely]] {
            *to++ = event::track_uuid << 3;
            to = put_varint(to, on);
        }
        open.end = to;
        return open;
    }
    void finish(const Open& open) {
        *open.event = static_cast<char>(open.end - open.event - 1);
        *open.packet = static_cast<char>(open.end - open.packet - 1);
        file_.used(open.end);
    }
    void named(const Track& track, std::uint64_t on, std::uint32_t function, Nanoseconds now,
               Type type) {
        Core& core = started(track, now);
        const std::string& name =
            function < core.interned.size() && !core.interned[function].empty()
                ? core.interned[function]
                : intern(core, track, function);
        Open open = start(core, track, on, now, type);
        open.end = std::copy(name.begin(), name.end(), open.end);
        finish(open);
    }
    const std::string& intern(Core& core, const Track& track, std::uint32_t function) {
        const bool is_site = function < first_own_function;
        if (is_site && function >= core.interned.size())
            core.interned.resize(2 * std::size_t{function} + 64);
        std::string& known = is_site ? core.interned[function] : core.interned_others[function];
        if (!known.empty()) return known;
        const Function& of = functions_[function];
        const std::uint64_t iid = std::uint64_t{function} + 1;
        Proto data;
        data.message(interned::event_names,
                     Proto().number(interned::iid, iid).bytes(interned::name, of.name));
        Proto naming;
        naming.number(event::name_iid, iid);
        if (!of.file.empty()) {
            data.message(interned::source_locations, Proto()
                                                         .number(location::iid, iid)
                                                         .bytes(location::file, of.file)
                                                         .bytes(location::function, of.name)
                                                         .number(location::line, of.line));
            naming.number(event::location_iid, iid);
        }
        packet(Proto()
                   .number(packet::sequence_id, track.core + 1)
                   .number(packet::sequence_flags, needs_state)
                   .message(packet::interned_data, data));
        return known = naming.text();
    }
    void leave_otherwise(const Track& track, std::uint64_t on, Core& core, Nanoseconds now,
                         Left how) {
        Open open = start(core, track, on, now, Type::end);
        Proto of;
        of.message(event::annotations, Proto()
                                           .bytes(annotation::name, "left")
                                           .bytes(annotation::string_value, left_text(how)));
        open.end = std::copy(of.text().begin(), of.text().end(), open.end);
        finish(open);
    }

    static constexpr std::uint32_t others_sequence = 1000;  // larger than any core's

    FileWriter file_;
    std::unordered_map<std::uint32_t, Function> functions_;
    std::vector<Core> cores_;
    std::vector<Stack> stacks_;  // by track
    bool has_real_time_ = false;
    std::uint64_t utc_minus_time_ = 0;
    std::set<std::uint64_t> described_;
};

}  // namespace

std::unique_ptr<EventSink> perfetto_sink(const Output& output, TimeAxis axis) {
    return std::make_unique<Perfetto>(output, axis);
}

}  // namespace nopscope::host
