// SPDX-License-Identifier: Apache-2.0
// Descriptor: with it a host that reads memory (through a debugger's stub, in a core dump) finds
// the rings' records without the target's help. It looks for the symbol nopscope_descriptor, and
// needs to know only this struct and the records (record.hpp). docs/debugger.md specifies both.
//
// All numbers are little-endian; addresses are the running image's virtual addresses.
#pragma once

#include "tracer/core/core.hpp"

namespace nopscope {

struct Descriptor {
    static constexpr std::uint64_t right_magic = 0x3172'6373'6564'736e;  // "nsdescr1"

    std::uint64_t magic;
    std::uint32_t ready;              // 1: init() has succeeded, and the fields below are valid
    std::uint32_t session;            // as in frames
    const void* cores;                // of the first Core
    const void* rings;                // of the first ring
    const void* hello;                // payload of a hello frame, as of init()
    std::uint64_t ring_stride_bytes;  // from one core's ring to the next
    std::uint32_t core_stride_bytes;
    std::uint32_t core_count;  // cores that have memory; hello says how many are used
    std::uint32_t hello_bytes;
    std::uint32_t ring_log2;  // log2 of a ring's size in bytes
    // Offsets of fields in a Core. u64:
    std::uint16_t cursor;        // position after the newest record
    std::uint16_t seen;          // position: records from here on have a clock ...
    std::uint16_t seen_clock;    // ... that is not before this
    std::uint16_t doubled_from;  // position: from here on a switch of context is two records ...
    std::uint16_t dropped;
    std::uint16_t shadow_stack_full;
    std::uint16_t off_stack;
    std::uint16_t filtered;       // calls too short or too deep for a record
    std::uint16_t calls_skipped;  // calls that the sampled recorder skipped
    // u32:
    std::uint16_t flight;                 // ... while this is 1
    std::uint16_t last_context_recorded;  // number in the last record of a switch
    std::uint16_t unused;
};
static_assert(sizeof(Descriptor) == 88 && alignof(Descriptor) == 8);
static_assert(offsetof(Descriptor, cores) == 16 && offsetof(Descriptor, ring_stride_bytes) == 40 &&
                  offsetof(Descriptor, core_stride_bytes) == 48 &&
                  offsetof(Descriptor, ring_log2) == 60 && offsetof(Descriptor, cursor) == 64 &&
                  offsetof(Descriptor, flight) == 82 && offsetof(Descriptor, unused) == 86,
              "the host reads it: another layout is another magic");
static_assert(sizeof(Core) < 0x10000);

// Returns a descriptor that is not ready yet.
constexpr Descriptor describe_cores(const Core* cores, const void* rings,
                                    std::uint64_t ring_stride_bytes, const void* hello) {
    return {.magic = Descriptor::right_magic,
            .ready = 0,
            .session = 0,
            .cores = cores,
            .rings = rings,
            .hello = hello,
            .ring_stride_bytes = ring_stride_bytes,
            .core_stride_bytes = sizeof(Core),
            .core_count = max_cores,
            .hello_bytes = 0,
            .ring_log2 = ring_log2,
            .cursor = offsetof(Core, cursor),
            .seen = offsetof(Core, seen),
            .seen_clock = offsetof(Core, seen_clock),
            .doubled_from = offsetof(Core, doubled_from),
            .dropped = offsetof(Core, dropped),
            .shadow_stack_full = offsetof(Core, shadow_stack_full),
            .off_stack = offsetof(Core, off_stack),
            .filtered = offsetof(Core, filtered),
            .calls_skipped = offsetof(Core, calls_skipped),
            .flight = offsetof(Core, flight),
            .last_context_recorded = offsetof(Core, last_context_recorded),
            .unused = 0};
}

}  // namespace nopscope
