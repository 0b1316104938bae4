// SPDX-License-Identifier: Apache-2.0
// Core: what one core's recorders work on. TPIDR_EL1 points to it.
//
// The ring. Positions count bytes and never wrap; the slot of a position is its low ring_log2 bits.
// A producer claims 8 bytes by moving `cursor` with LDXR/STXR, the clock read in between: an
// interrupt that records in that window clears the monitor, so slot order is time order and no
// interrupt is ever masked. Then it stores the record, XORed with its own position shifted right by
// lap_shift: bit 34, zero in every record, so becomes the parity of the lap, which is how the
// pump tells a written slot from last lap's. Positions start in lap 1: a zeroed ring is unwritten.
//
// Entries are admitted while cursor < limit. `limit` stays so far below the end of the free space
// that all open calls can still record their returns: a return never finds the ring full, and an
// entry that is refused is not hooked, so it has no return. 0 while recording is stopped.
//
// The shadow stack. `top` is the next free frame. An unused frame's SP is 0, below every stack; the
// lowest frame is a sentinel with the stack's high end as SP, so "below the top frame's SP" is also
// "below the end of the stack". Push: publish the new top, then write the frame. Pop: read the frame,
// store 0, then lower the top. Whatever an interrupt in between pushes, it pops.
//
// Pairs. A CPU forwards a store that is still on its way to a load of the same words. Few forward it to a pair of which
// only one word was stored: such a load waits until the store has reached the cache. Each call stores `top`. So what is
// loaded in one pair is stored in one pair, or is not stored by calls at all, and `ring` is here twice.
//
// Flight. While `overwrites` is set, entries and the tracer's own records are always admitted, and the
// newest take the place of the oldest: `tail` stays where it is until somebody wants what is there
// (flight.hpp).
//
// Depth. `shadow_end` is lowered to `shadow_base` plus as many frames as may be open (set_max_depth);
// callbacks and the profile go on to `frames_end`.
//
// Sampling. `calls_skipped` counts the calls that were passed over; one that finds it at or above
// `sample_next` is recorded. Who stops the core makes sample_next 0, so the next one looks at `limit`.
//
// `profiled` is the profile recorder's (profile.hpp).
#pragma once

#include "nopscope/enabled.h"
#include "tracer/protocol/record.hpp"

#include <cstddef>
#include <cstdint>

#if !NOPSCOPE_ENABLED
#error "the tracer itself is compiled with NOPSCOPE_ENABLED=1"
#endif
#ifndef NOPSCOPE_RING_LOG2
#define NOPSCOPE_RING_LOG2 18  // bytes; 32768 records
#endif
#ifndef NOPSCOPE_CORES
#define NOPSCOPE_CORES 4  // at most 8
#endif
#ifndef NOPSCOPE_SHADOW_FRAMES
#define NOPSCOPE_SHADOW_FRAMES 512
#endif

namespace nopscope {

struct Context;

inline constexpr unsigned ring_log2 = NOPSCOPE_RING_LOG2;
inline constexpr std::uint64_t ring_bytes = std::uint64_t{1} << ring_log2;
inline constexpr unsigned max_cores = NOPSCOPE_CORES;
inline constexpr unsigned lap_shift = ring_log2 - 2;
inline constexpr std::size_t shadow_frames = NOPSCOPE_SHADOW_FRAMES;
inline constexpr std::uint64_t record_bytes = 8;
inline constexpr unsigned max_interrupt_depth = 32;

// Records the tracer itself adds (sync, tracer_begin, tracer_end) come out of this, so they fit when
// the ring is full of calls.
inline constexpr std::uint64_t own_reserve_bytes = 64 * record_bytes;
// For the returns of a core's own calls. Contexts add theirs (contexts.hpp).
inline constexpr std::uint64_t return_reserve_bytes = shadow_frames * record_bytes;
static_assert(ring_log2 >= 13 && ring_log2 <= 28, "8 KiB to 256 MiB");
static_assert((return_reserve_bytes + own_reserve_bytes) * 2 <= ring_bytes,
              "the ring is small for that many frames");

struct ShadowFrame {
    std::uint64_t return_address;
    std::uint64_t sp;
    std::uint64_t hook;      // what the call returns to: says whose frame it is
    std::uint64_t position;  // graph: of the entry's record. Profile: its cell. Duration: the body
    // Clock at the entry (profile, duration), Core::profiled then (profile). Of those that count events: the
    // counters at the entry, and Core::events (graph, from rest[0]) or Core::evented (profile, from rest[2]) then.
    std::uint64_t rest[4];
};
inline constexpr std::uint64_t free_frame_sp = 0;
// SP of a frame whose call has returned while another context ran. It lies below every stack, so
// the next call or return finds the frame dead.
inline constexpr std::uint64_t stray_frame_sp = 8;

struct alignas(128) Core {
    // Only this core changes what is in their exclusives granule (CTR_EL0.ERG; 64 bytes on Cortex-A).
    std::uint64_t cursor;
    std::uint64_t events;    // what the graph recorder counts: EventSet (events.hpp); 0: nothing
    std::uint64_t profiled;  // 1/256 ticks
    std::uint64_t profile_cost;  // time in the caller to record a profiled call: 1/256 ticks
    std::uint64_t calls_skipped;  // calls, by nopscope_sampled_entry
    std::uint64_t sample_next;  // value of `calls_skipped`; 0: look at `limit`
    std::uint64_t evented;         // as `profiled`, of two events, 32 bits each
    std::uint64_t profile_events;  // `events` again
    std::uint64_t frames_end;   // of the shadow stack's memory
    std::uint64_t stack_high;
    std::uint64_t left_position;  // of the cursor at the last longjmp that was told
    std::uint64_t left_clock;     // the clock then, read behind it
    std::uint64_t sample_gap;   // calls to pass over between two that are recorded
    std::uint64_t overflowed;  // calls that found the ring full, and went to the profile
    std::uint64_t aggregates;  // 1: they do (adaptive)
    std::uint64_t cells;  // bytes from core 0's profile cells to this core's

    alignas(128) std::uint64_t limit;
    std::uint64_t ring;  // address
    std::uint64_t ring_again;  // `ring`, which the graph recorder loads and stores with `top`
    std::uint64_t top;   // address of the next free shadow frame
    std::uint64_t shadow_end;  // where recorders stop hooking
    std::uint64_t stack_low;
    std::uint64_t dropped;
    std::uint64_t shadow_stack_full;
    std::uint64_t off_stack;
    std::uint64_t lossless;  // 0 or 1
    std::uint64_t depth;     // address of this core's interrupt depth, u32
    std::uint64_t recursions;
    std::uint64_t unguarded;  // the innermost frame of the unguarded trampoline that is open, or 0
    std::uint64_t filtered;   // calls: too short, or too deep. What was passed over is in `calls_skipped`
    std::uint64_t min_duration;  // ticks
    std::uint64_t shadow_base;   // address of the lowest frame above the sentinel

    // One for each interrupt depth: its own address, or 0 while a callback runs at that depth.
    alignas(128) std::uint64_t guards[max_interrupt_depth];

    // The consumer's own, away from what producers write.
    alignas(128) std::uint64_t tail;
    std::uint64_t pumped_clock;  // 64-bit clock of the record before tail
    std::uint64_t last_trace_frame;  // clock
    std::uint64_t last_key_frame;    // clock
    std::uint64_t last_sync;         // clock
    std::uint64_t seen_clock;        // when a pump last looked; what lies before `seen` is older
    std::uint64_t seen;              // position
    std::uint64_t last_certain_clock;  // before `clock_uncertain_from` nobody had looked for long: pump.hpp
    std::uint64_t clock_uncertain_from;  // position; 0: none
    std::uint64_t clock_base;  // what the record at `clock_base_slot` counts from
    std::uint64_t clock_base_slot;  // position; 0: none
    std::uint64_t overwritten;       // records
    std::uint64_t own_records;       // in the ring, not yet sent
    std::uint64_t aggregated;        // calls, in the last whole read-out of the profile
    std::uint32_t trace_sequence;
    std::uint32_t stats_sequence;
    std::uint32_t profile_sequence;
    std::uint32_t profile_events_sequence;
    std::uint64_t pump_reserve;  // bytes that `limit` stays lower still: room for interrupts of the pump
    std::uint64_t send_to;  // position: what lies before it is due
    std::uint32_t pumped_context;  // number of the one that the record before tail was made in
    std::uint32_t overwrites;      // 1: the newest record takes the place of the oldest
    std::uint32_t entries_held;  // 1: a snapshot was asked for: no entry until the pump has come
    std::uint64_t doubled_from;    // position: from here on a switch of context is two records
    std::uint64_t snapshot_end;    // position
    std::uint64_t unwritten_slot;  // position of a slot that was claimed and is not written yet
    std::uint64_t unwritten_since;  // clock
    std::uint64_t cleaned;         // position: before it the ring has reached memory
    bool pumped_site_next;         // the record at tail is data: the site of the one before

    // What context_switch() and the pump, which may run on another core, both change: under the lock.
    alignas(128) std::uint32_t context_lock;
    std::uint32_t context_record_pending;  // 1: the record of the last switch has found no room yet
    std::uint32_t context_number;
    std::uint32_t last_context_recorded;  // number in the last record of a switch
    std::uint32_t flight;          // 1: a switch of context says first what it leaves
    Context* context;              // that runs; null: the main one, and there never was another
    std::uint64_t reserve;         // bytes of the ring, for returns
    std::uint64_t return_bytes;    // of one
    std::uint64_t max_depth;       // frames; 0: as many as there are
    // Why it is stopped (stop_reasons.hpp): atomic, no lock.
    std::uint32_t stops;
    std::uint32_t subtree_depth;  // open calls, in the running context, of the functions traced below
    std::uint64_t subtree;  // the ReturnOps that counts them; 0: everything is traced
    // Of interrupts.hpp; this core alone, interrupts masked.
    std::uint64_t masked_since;    // clock; 0: not masked
    std::uint64_t masked_where;    // address
    std::uint64_t longest_masked;  // ticks, of those recorded
    // To find the callers of calls that return while another context runs (strays.hpp).
    std::uint64_t stray_returns;
    std::uint64_t graves;  // address of max_graves Graves; 0: none are kept
    std::uint64_t buried;  // frames, so far
    // While `context_record_pending`, under the lock: the cursor at the first switch since the last record, the
    // clock then, and the clock at the last switch.
    std::uint64_t switch_position;
    std::uint64_t left_context_clock;
    std::uint64_t entered_context_clock;
};

inline void set_ring(Core& core, std::uint64_t address) { core.ring = core.ring_again = address; }

// All zero; the compiler would call memset.
inline void clear(Core& core) {
    auto* const words = reinterpret_cast<std::uint64_t*>(&core);
    for (std::size_t i = 0; i < sizeof core / sizeof *words; ++i) {
        __atomic_store_n(&words[i], 0, __ATOMIC_RELAXED);
    }
}

}  // namespace nopscope
