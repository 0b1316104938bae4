// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/export/perfetto_packets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "host-tools/base/text.hpp"
#include "host-tools/views/export/perfetto_fields.hpp"

namespace nopscope::host::perfetto {
namespace {

constexpr std::uint32_t state_cleared = 1;
constexpr std::uint32_t real_time = 1;
constexpr std::uint32_t log_info = 4;
constexpr std::uint32_t own_clock = 64;
constexpr std::uint32_t explicit_order = 1;
constexpr std::uint64_t root_uuid = 0;

constexpr const char* categories[] = {"call", "irq", "tracer", "context"};  // by Category

Proto track_packet(const Proto& of) { return Proto().message(packet::track_descriptor, of); }

// All contexts are threads of the one process, 1.
std::uint64_t perfetto_thread(const Track& track) { return 1 + track.number; }

std::string thread_name(const Track& track) {
    if (track.task == nullptr && track.context == 0) return fmt::format("core {}", track.core);
    return to_utf8(without_nul(track_name(track)));
}

// Threads come in the order of their cores, and of their contexts' numbers.
std::uint64_t order_of(const Track& track) {
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

}  // namespace

Category category_of(std::uint32_t function, const FunctionPlace& place) {
    if (function == tracer_function) return tracer_category;
    if (function == away_function) return context_category;
    return place.interrupt ? irq_category : call_category;
}

Proto root_packet() {
    return track_packet(Proto()
                            .number(descriptor::uuid, root_uuid)
                            .number(descriptor::thread_ordering, explicit_order));
}

Proto process_packet(const HelloInfo& hello, const std::string& times, const std::string& part) {
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

Proto attributes_packet(const HelloInfo& hello, const std::string& times, const std::string& part) {
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

Proto thread_packet(const Track& track) {
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

Proto sequence_packet(const Track& track, Nanoseconds now) {
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

Proto state_packet(const Track& track, KernelState state, Nanoseconds when) {
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

Proto clocks_packet(const TimePair& pair) {
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

Proto log_packet(std::string_view text, std::uint64_t utc_ns) {
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
