// SPDX-License-Identifier: Apache-2.0
// Core: the state of one core's recorders. TPIDR_EL1 points to it.
//
// The ring. Positions count bytes and never wrap; the slot of a position is its low ring_log2 bits.
// - A producer claims 8 bytes: it moves `cursor` with LDXR/STXR and reads the clock in between. An
//   interrupt that records in that window clears the monitor. So the order of slots is the order of
//   time, and the recorders mask no interrupt.
// - Then it stores the record, XORed with its position shifted right by lap_shift. So bit 34, zero
//   in every record, becomes the parity of the lap. By it the pump tells a written slot from one of
//   the previous lap. Positions start in lap 1: a zeroed ring is unwritten.
// - Entries are admitted while cursor < limit. `limit` leaves room for the returns of all open
//   calls, so a return never finds the ring full. A refused entry is not hooked and has no return.
//   `limit` is 0 while recording is stopped.
//
// The shadow stack. `top` is the next free frame. An unused frame's SP is 0, below every stack. The
// lowest frame is a sentinel whose SP is the stack's high end, so "below the top frame's SP" is
// also "below the end of the stack". Push: publish the new top, then write the frame. Pop: read the
// frame, store 0, then lower the top. An interrupt in between pops all that it has pushed.
//
// Where interrupts are deferred (deferral.hpp), an interrupt comes before a record's first store or
// after its last one, so three things differ. A frame above `top` keeps the contents of a call that
// has returned. A pop only lowers `top`. Of the two exclusives only the cursor's is left, because
// another core's pump puts records into this ring, too.
//
// Load pairs. A CPU can forward a store to a later load of the same words. Few CPUs forward it to a
// load pair of which only one word was stored: that load waits until the store has reached the
// cache. Each call stores `top`. So the recorders store as a pair what they load as a pair, or
// calls do not store it at all. That is why `ring` is here twice.
//
// Flight. While `overwrites` is set, entries and records of the tracer are always admitted, and the
// newest records overwrite the oldest. `tail` does not move until a snapshot needs it (flight.hpp).
//
// Depth. set_max_depth() lowers `shadow_end` to `shadow_base` plus the frames that may be open.
// Callbacks and the profile use all frames up to `frames_end`.
//
// Sampling. A call that finds `calls_skipped` at or above `sample_next` is recorded. Stopping the
// core sets sample_next to 0, so the next call looks at `limit`.
//
// `profiled` belongs to the profile recorder (recorders/profile.hpp).
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

// Room for the tracer's records (sync, tracer_begin, tracer_end) when the ring is full of calls.
inline constexpr std::uint64_t own_reserve_bytes = 64 * record_bytes;
// Room for marks and interrupts when the ring is full of calls.
inline constexpr std::uint64_t mark_reserve_bytes = 32 * record_bytes;
// Room for the returns of the core's main context. Other contexts add theirs (contexts.cpp).
inline constexpr std::uint64_t return_reserve_bytes = shadow_frames * record_bytes;
static_assert(ring_log2 >= 13 && ring_log2 <= 28, "8 KiB to 256 MiB");
static_assert((return_reserve_bytes + own_reserve_bytes) * 2 <= ring_bytes,
              "the ring is small for that many frames");

struct ShadowFrame {
    std::uint64_t return_address;
    std::uint64_t sp;
    std::uint64_t hook;      // where the call returns to; it tells which recorder owns the frame
    std::uint64_t position;  // graph: of the entry's record. Profile: its cell. Duration: the body
    // At the entry. Profile: clock, Core::profiled; duration: clock. With events, graph: counters,
    // Core::events; profile, from rest[2] on: counters, Core::evented.
    std::uint64_t rest[4];
};
inline constexpr std::uint64_t free_frame_sp = 0;
// SP of a frame whose call has returned while another context ran. It lies below every stack, so
// the next call or return finds that the frame's call is over.
inline constexpr std::uint64_t stray_frame_sp = 8;

struct alignas(128) Core {
    // Only this core writes to their exclusives granule (CTR_EL0.ERG; 64 bytes on Cortex-A).
    std::uint64_t cursor;
    std::uint64_t events;          // that the graph recorder counts: EventSet (pmu_event_set.hpp)
    std::uint64_t profiled;        // 1/256 ticks
    std::uint64_t profile_cost;    // time in the caller to record a profiled call: 1/256 ticks
    std::uint64_t calls_skipped;   // calls that nopscope_sampled_entry skipped
    std::uint64_t sample_next;     // value of `calls_skipped`; 0: look at `limit`
    std::uint64_t evented;         // as `profiled`, for two events, 32 bits each
    std::uint64_t profile_events;  // a copy of `events`
    std::uint64_t frames_end;      // end of the shadow stack's memory
    std::uint64_t stack_high;
    std::uint64_t left_position;  // the cursor at the last longjmp that was reported
    std::uint64_t left_clock;     // the clock then, read after the cursor
    std::uint64_t sample_gap;     // calls to skip between two that are recorded
    std::uint64_t overflowed;     // calls that found the ring full, and went to the profile
    std::uint64_t aggregates;     // 1: such calls go to the profile (adaptive mode)
    std::uint64_t cells;          // bytes from core 0's profile cells to this core's

    alignas(128) std::uint64_t limit;
    std::uint64_t ring;        // address
    std::uint64_t ring_again;  // copy of `ring`: the graph recorder loads and stores it with `top`
    std::uint64_t top;         // address of the next free shadow frame
    std::uint64_t shadow_end;  // recorders hook no call whose frame would lie here or above
    // The lowest SP of the context's hooked calls so far; of a main context, stack_low. A call
    // below it takes the recorders' slow path.
    std::uint64_t lowest_sp;
    std::uint64_t dropped;
    std::uint64_t shadow_stack_full;
    std::uint64_t off_stack;
    std::uint64_t lossless;  // 0 or 1
    std::uint64_t depth;     // address of this core's interrupt depth, u32
    std::uint64_t recursions;
    std::uint64_t unguarded;  // the innermost open frame of the unguarded trampoline, or 0
    std::uint64_t filtered;   // calls: too short, or too deep; skipped ones are in `calls_skipped`
    std::uint64_t min_duration;  // ticks
    std::uint64_t shadow_base;   // address of the lowest frame above the sentinel
    std::uint64_t stack_low;
    // arch/arm64/deferral.S: where the interrupted code goes on, and its masks (DAIF). Where the
    // last such interrupt came, in instructions from nopscope_recording on: for tests.
    std::uint64_t deferred_exit;
    std::uint64_t deferred_masks;
    std::uint64_t deferral_at;

    // One for each interrupt depth: its own address, or 0 while a callback runs at that depth.
    alignas(128) std::uint64_t guards[max_interrupt_depth];

    // Only the pump uses these, so they lie on other cache lines than what producers write.
    alignas(128) std::uint64_t tail;
    std::uint64_t pumped_clock;          // 64-bit clock of the record before tail
    std::uint64_t last_trace_frame;      // clock
    std::uint64_t last_key_frame;        // clock
    std::uint64_t last_sync;             // clock
    std::uint64_t seen_clock;            // when a pump last looked; records before `seen` are older
    std::uint64_t seen;                  // position
    std::uint64_t last_certain_clock;    // no pump looked between it and `clock_uncertain_from`
    std::uint64_t clock_uncertain_from;  // position (stream/ring_clock.hpp); 0: none
    std::uint64_t clock_base;            // the record at `clock_base_slot` counts from this clock
    std::uint64_t clock_base_slot;       // position; 0: none
    std::uint64_t overwritten;           // records
    std::uint64_t own_records;           // of the tracer, in the ring, not yet sent
    std::uint64_t aggregated;            // calls, in the last whole read-out of the profile
    std::uint32_t trace_sequence;
    std::uint32_t stats_sequence;
    std::uint32_t profile_sequence;
    std::uint32_t profile_events_sequence;
    std::uint64_t pump_reserve;     // bytes that entries leave free (Modes::margin)
    std::uint64_t send_to;          // position: records before it are due
    std::uint32_t pumped_context;   // number of the context of the record before tail
    std::uint32_t overwrites;       // 1: the newest record overwrites the oldest
    std::uint32_t entries_held;     // 1: a snapshot is requested: no entry until the pump has run
    std::uint64_t doubled_from;     // position: from here on a switch of context is two records
    std::uint64_t snapshot_end;     // position
    std::uint64_t unwritten_slot;   // position of a slot that was claimed and is not written yet
    std::uint64_t unwritten_since;  // clock
    std::uint64_t cleaned;          // position: the ring before it is cleaned to memory
    bool pumped_site_next;          // the record at tail is data: the site of the one before

    // context_switch() and the pump, which may run on another core, change these under the lock.
    alignas(128) std::uint32_t context_lock;
    std::uint32_t context_record_pending;  // 1: the last switch has no record in the ring yet
    std::uint32_t context_number;
    std::uint32_t last_context_recorded;  // number in the last record of a switch
    std::uint32_t flight;                 // 1: a switch first records the previous context
    std::uint32_t number;                 // this core's
    Context* context;                     // the running one; null: the main one, no other has run
    std::uint64_t reserve;                // bytes of the ring, for returns
    std::uint64_t return_bytes;           // bytes of one return
    std::uint64_t max_depth;              // frames; 0: all
    // Why it is stopped (stop_reasons.hpp): atomic, no lock.
    std::uint32_t stops;
    std::uint32_t subtree_depth;  // open calls of trace_only_below()'s functions in this context
    std::uint64_t subtree;        // the ReturnOps that counts them; 0: everything is traced
    // The tracer works in this context: how deep, the TracerWork::Mark of the tracer_begin that the
    // ring has (tracer_time.hpp), and the event counters that are paused meanwhile (a mask).
    std::uint32_t tracer_depth;
    std::uint32_t tracer_marked;
    std::uint64_t paused_counters;
    // For interrupts.cpp. Only this core uses them, with interrupts masked.
    std::uint64_t masked_since;    // clock; 0: not masked
    std::uint64_t masked_where;    // address
    std::uint64_t longest_masked;  // ticks, of those recorded
    std::uint64_t undeferred;      // interrupts that nopscope_defer should have deferred
    // To find the callers of calls that return while another context runs (strays.hpp).
    std::uint64_t stray_returns;
    std::uint64_t graves;  // address of max_graves Graves; 0: there are none
    std::uint64_t buried;  // frames, so far
    // While `context_record_pending`, under the lock: cursor and clock at the first switch since
    // the last record, and the clock at the last switch.
    std::uint64_t switch_position;
    std::uint64_t left_context_clock;
    std::uint64_t entered_context_clock;
    std::uint64_t moved;  // protocol::moved_data() of the running context, or 0
    std::uint64_t left;   // how the context before was left, as a record says it; 0: not known
};

inline void set_ring(Core& core, std::uint64_t address) { core.ring = core.ring_again = address; }

// Sets all fields to 0. For `core = {}` the compiler would call memset.
inline void clear(Core& core) {
    auto* const words = reinterpret_cast<std::uint64_t*>(&core);
    for (std::size_t i = 0; i < sizeof core / sizeof *words; ++i) {
        __atomic_store_n(&words[i], 0, __ATOMIC_RELAXED);
    }
}

}  // namespace nopscope
