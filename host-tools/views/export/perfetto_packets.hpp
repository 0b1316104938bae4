// SPDX-License-Identifier: Apache-2.0
// Field numbers of Perfetto's trace format, from its protos/perfetto/trace, the numbers that
// packets share, and those packets that depend on nothing that was written before.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "host-tools/base/text.hpp"
#include "host-tools/calls/event_sink.hpp"
#include "host-tools/views/export/proto.hpp"

namespace nopscope::host::perfetto {

enum class trace : std::uint32_t { packet = 1 };
enum class packet : std::uint32_t {
    clock_snapshot = 6,
    timestamp = 8,
    sequence_id = 10,
    track_event = 11,
    interned_data = 12,
    sequence_flags = 13,
    android_log = 39,
    compressed_packets = 50,
    timestamp_clock_id = 58,
    defaults = 59,
    track_descriptor = 60,
    task_state = 117,
    attributes = 126,
};
enum class defaults : std::uint32_t { track_event = 11, timestamp_clock_id = 58 };
enum class clock_snapshot : std::uint32_t { clocks = 1 };
enum class clock : std::uint32_t { id = 1, timestamp = 2, is_incremental = 3 };
enum class event : std::uint32_t {
    category_iids = 3,
    annotations = 4,
    type = 9,
    name_iid = 10,
    track_uuid = 11,
    categories = 22,
    name = 23,
    counter_value = 30,
    location_iid = 34,
    callstack = 55,
};
enum class callstack : std::uint32_t { frames = 1, function = 1, file = 2, line = 3 };
enum class annotation : std::uint32_t {
    uint_value = 3,
    int_value = 4,
    string_value = 6,
    name = 10
};
enum class interned : std::uint32_t {
    event_categories = 1,
    event_names = 2,
    source_locations = 4,
    iid = 1,
    name = 2
};
enum class location : std::uint32_t { iid = 1, file = 2, function = 3, line = 4 };
enum class descriptor : std::uint32_t {
    uuid = 1,
    name = 2,
    process = 3,
    thread = 4,
    parent = 5,
    counter = 8,
    order = 12,
    thread_ordering = 20
};
enum class process : std::uint32_t { pid = 1, command_line = 2, name = 6 };
enum class thread : std::uint32_t { pid = 1, tid = 2, name = 5 };

enum class log : std::uint32_t {
    events = 1,
    pid = 2,
    tid = 3,
    timestamp = 5,
    tag = 6,
    priority = 7,
    message = 8
};
enum class task_state : std::uint32_t { cpu = 1, comm = 2, tid = 3, state = 4, prio = 5 };
enum class attributes : std::uint32_t { attribute = 1, key = 1, string_value = 3 };

// A core's packets are a sequence: 1 + its number. Rare events, by the common clock, are this one.
inline constexpr std::uint32_t others_sequence = 1000;  // larger than any core's
inline constexpr std::uint32_t boot_time = 6;           // the common clock
inline constexpr std::uint32_t needs_state = 2;         // a sequence flag: names are interned

enum Category : std::uint32_t {
    call_category = 1,
    irq_category,
    tracer_category,
    context_category
};

// Identifiers of tracks, by kind and number.
inline constexpr std::uint64_t process_uuid = 1;
inline constexpr std::uint64_t counter_kind = 1;
inline constexpr std::uint64_t missing_kind = 2;
inline constexpr std::uint64_t samples_kind = 3;
inline constexpr std::uint64_t whole_kind = 4;
inline constexpr std::uint64_t deeper_kind = 5;
inline constexpr std::uint64_t masked_kind = 6;
constexpr std::uint64_t uuid(std::uint64_t kind, std::uint64_t number) {
    return kind << 48 | number;
}

// Perfetto's importer keeps so many slices open on a track.
inline constexpr std::size_t max_depth = 512;
// The track of the levels from max_depth x `level` on.
inline std::uint64_t context_uuid(const Track& track, std::size_t level = 0) {
    constexpr std::uint64_t first_context = 16;
    return level == 0 ? first_context + track.number
                      : uuid(deeper_kind, std::uint64_t{track.number} << 16 | level);
}

// States of a task, as Perfetto counts them.
enum class KernelState : std::uint32_t {
    runnable = 2,
    running = 3,
    sleeping = 4,
    stopped = 6,
    dead = 7
};

inline constexpr std::uint32_t state_cleared = 1;
inline constexpr std::uint32_t real_time = 1;
inline constexpr std::uint32_t log_info = 4;
inline constexpr std::uint32_t own_clock = 64;
inline constexpr std::uint32_t explicit_order = 1;
inline constexpr std::uint64_t root_uuid = 0;

inline constexpr const char* categories[] = {"call", "irq", "tracer", "context"};  // by Category

inline Proto track_packet(const Proto& of) { return Proto().message(packet::track_descriptor, of); }

// All contexts are threads of the one process, 1.
inline std::uint64_t perfetto_thread(const Track& track) { return 1 + track.number; }

inline std::string thread_name(const Track& track) {
    if (track.task == nullptr && track.context == 0) return fmt::format("core {}", track.core);
    return to_utf8(without_nul(track_name(track)));
}

// Threads come in the order of their cores, and of their contexts' numbers.
inline std::uint64_t order_of(const Track& track) {
    constexpr std::uint32_t context_bits = 22;
    return track.core << context_bits | std::min(track.context, (1u << context_bits) - 1);
}

struct Recorded {
    explicit Recorded(const HelloInfo& hello)
        : image(to_utf8(without_nul(hello.image))),
          board(to_utf8(without_nul(hello.board))),
          build_id(to_hex(hello.build_id)) {}
    std::string image;
    std::string board;
    std::string build_id;
};

inline Category category_of(std::uint32_t function, const FunctionPlace& place) {
    if (function == tracer_function) return tracer_category;
    if (function == away_function) return context_category;
    return place.interrupt ? irq_category : call_category;
}

// The root of all tracks, which says that they have an order.
inline Proto root_packet() {
    return track_packet(Proto()
                            .number(descriptor::uuid, root_uuid)
                            .number(descriptor::thread_ordering, explicit_order));
}

// Its name says what was recorded. `times`: what the times are; `part`: empty, or which part.
inline Proto process_packet(const HelloInfo& hello, const std::string& times,
                            const std::string& part) {
    const Recorded of(hello);
    Proto about;
    about.number(process::pid, 1);
    about.bytes(process::name, fmt::format("{} on {}, build-id {} (nopscope, raw times)",
                                           of.image.empty() ? "an image" : of.image,
                                           of.board.empty() ? "?" : of.board,
                                           of.build_id.empty() ? "none" : of.build_id));
    about.bytes(process::command_line, times);
    if (!part.empty()) about.bytes(process::command_line, "a part of the recording: " + part);
    return track_packet(
        Proto().number(descriptor::uuid, process_uuid).message(descriptor::process, about));
}

inline Proto attributes_packet(const HelloInfo& hello, const std::string& times,
                               const std::string& part) {
    const Recorded of(hello);
    Proto list;
    for (const auto& [key, value] : {std::pair{"nopscope.image", of.image},
                                     {"nopscope.board", of.board},
                                     {"nopscope.build_id", of.build_id},
                                     {"nopscope.times", times},
                                     {"nopscope.part", part}}) {
        if (value.empty()) continue;
        list.message(attributes::attribute,
                     Proto().bytes(attributes::key, key).bytes(attributes::string_value, value));
    }
    return Proto().message(packet::attributes, list);
}

// A context.
inline Proto thread_packet(const Track& track) {
    Proto of;
    of.number(descriptor::uuid, context_uuid(track))
        .number(descriptor::parent, process_uuid)
        .number(descriptor::order, order_of(track))
        .message(descriptor::thread, Proto()
                                         .number(thread::pid, 1)
                                         .number(thread::tid, perfetto_thread(track))
                                         .bytes(thread::name, thread_name(track)));
    return Proto()
        .number(packet::sequence_id, track.core + 1)
        .message(packet::track_descriptor, of);
}

// The first of a core's sequence: its clock, its categories, and `track` as the default.
inline Proto sequence_packet(const Track& track, Nanoseconds now) {
    Proto clocks;
    clocks.message(clock_snapshot::clocks, Proto()
                                               .number(clock::id, own_clock)
                                               .number(clock::timestamp, now)
                                               .number(clock::is_incremental, 1));
    clocks.message(clock_snapshot::clocks,
                   Proto().number(clock::id, boot_time).number(clock::timestamp, now));
    Proto names;
    for (std::uint32_t n = 0; n < std::size(categories); ++n) {
        names.message(interned::event_categories,
                      Proto().number(interned::iid, n + 1).bytes(interned::name, categories[n]));
    }
    const Proto of_events = Proto().number(event::track_uuid, context_uuid(track));
    return Proto()
        .number(packet::sequence_id, track.core + 1)
        .number(packet::sequence_flags, state_cleared)
        .message(packet::defaults, Proto()
                                       .number(defaults::timestamp_clock_id, own_clock)
                                       .message(defaults::track_event, of_events))
        .message(packet::clock_snapshot, clocks)
        .message(packet::interned_data, names);
}

// The task has the state from now on. Perfetto makes the cores' lanes of these.
inline Proto state_packet(const Track& track, KernelState state, Nanoseconds when) {
    Proto of;
    of.number(task_state::cpu, track.core)
        .bytes(task_state::comm, thread_name(track))
        .number(task_state::tid, perfetto_thread(track))
        .number(task_state::state, static_cast<std::uint32_t>(state));
    if (track.task != nullptr && track.task->priority != 0) {
        constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
        of.number(task_state::prio, std::min(track.task->priority, most));
    }
    return Proto()
        .number(packet::timestamp, when)
        .number(packet::timestamp_clock_id, boot_time)
        .number(packet::sequence_id, others_sequence)
        .message(packet::task_state, of);
}

inline Proto clocks_packet(const TimePair& pair) {
    Proto clocks;
    for (const auto& [id, at] :
         {std::pair{boot_time, pair.time}, std::pair{real_time, pair.utc_ns}}) {
        clocks.message(clock_snapshot::clocks,
                       Proto().number(clock::id, id).number(clock::timestamp, at));
    }
    return Proto()
        .number(packet::sequence_id, others_sequence)
        .message(packet::clock_snapshot, clocks);
}

inline Proto log_packet(std::string_view text, std::uint64_t utc_ns) {
    const Proto line = Proto()
                           .number(log::pid, 1)
                           .number(log::tid, 1)
                           .number(log::timestamp, utc_ns)
                           .bytes(log::tag, "console")
                           .number(log::priority, log_info)
                           .bytes(log::message, text);
    return Proto()
        .number(packet::sequence_id, others_sequence)
        .message(packet::android_log, Proto().message(log::events, line));
}

}  // namespace nopscope::host::perfetto
