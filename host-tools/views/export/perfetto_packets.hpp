// SPDX-License-Identifier: Apache-2.0
// Those packets of Perfetto's format that depend on nothing that was written before, and the
// numbers that packets share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "host-tools/calls/event_sink.hpp"
#include "host-tools/views/export/proto.hpp"

namespace nopscope::host::perfetto {

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
Category category_of(std::uint32_t function, const FunctionPlace& place);

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

// The root of all tracks, which says that they have an order.
Proto root_packet();
// Its name says what was recorded. `times`: what the times are; `part`: empty, or which part.
Proto process_packet(const HelloInfo& hello, const std::string& times, const std::string& part);
Proto attributes_packet(const HelloInfo& hello, const std::string& times, const std::string& part);
// A context.
Proto thread_packet(const Track& track);
// The first of a core's sequence: its clock, its categories, and `track` as the default.
Proto sequence_packet(const Track& track, Nanoseconds now);
// States of a task, as Perfetto counts them.
enum class KernelState : std::uint32_t {
    runnable = 2,
    running = 3,
    sleeping = 4,
    stopped = 6,
    dead = 7
};
// The task has the state from now on. Perfetto makes the cores' lanes of these.
Proto state_packet(const Track& track, KernelState state, Nanoseconds when);
Proto clocks_packet(const TimePair& pair);
Proto log_packet(std::string_view text, std::uint64_t utc_ns);

}  // namespace nopscope::host::perfetto
