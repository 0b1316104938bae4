// SPDX-License-Identifier: Apache-2.0
// Descriptor: how a host that reads the target's memory (a debugger's stub, a core dump) finds what the
// rings hold, without the target's help. It looks for the symbol nopscope_descriptor in the image, and needs to
// know nothing but this struct and the records (protocol/record.hpp). docs/debugger.md specifies both.
//
// All is little-endian; addresses are of the running image, as its core sees them.
#pragma once

#include "tracer/core/core.hpp"

namespace nopscope {

struct Descriptor {
    static constexpr std::uint64_t right_magic = 0x3172'6373'6564'736e;  // "nsdescr1"

    std::uint64_t magic;
    std::uint32_t ready;    // 1: init() has succeeded, and what follows is true
    std::uint32_t session;  // as in frames
    const void* cores;      // of the first Core
    const void* rings;      // where the first ring begins
    const void* hello;      // payload of a hello frame, as it was at init()
    std::uint64_t ring_stride_bytes;  // from one core's ring to the next
    std::uint32_t core_stride_bytes;
    std::uint32_t core_count;   // that there is memory for; hello says how many are used
    std::uint32_t hello_bytes;
    std::uint32_t ring_log2;    // bytes of a ring
    // Where in a Core these are. u64:
    std::uint16_t cursor;       // position behind the newest record
    std::uint16_t seen;         // position ...
    std::uint16_t seen_clock;   // ... where a record's clock is not before this
    std::uint16_t doubled_from; // position: from here on a switch of context is two records ...
    std::uint16_t dropped;
    std::uint16_t shadow_stack_full;
    std::uint16_t off_stack;
    std::uint16_t filtered;     // both of these: calls that made no record
    std::uint16_t passed;
    // u32:
    std::uint16_t flight;        // ... while this is 1
    std::uint16_t said_context;  // number in the last record of a switch
    std::uint16_t unused;
};
static_assert(sizeof(Descriptor) == 88 && alignof(Descriptor) == 8);
static_assert(offsetof(Descriptor, cores) == 16 && offsetof(Descriptor, ring_stride_bytes) == 40 &&
              offsetof(Descriptor, core_stride_bytes) == 48 && offsetof(Descriptor, ring_log2) == 60 &&
              offsetof(Descriptor, cursor) == 64 && offsetof(Descriptor, flight) == 82 &&
              offsetof(Descriptor, unused) == 86, "the host reads it: another layout is another magic");
static_assert(sizeof(Core) < 0x10000);

// Not ready.
constexpr Descriptor describe_cores(const Core* cores, const void* rings, std::uint64_t ring_stride_bytes,
                                    const void* hello) {
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
            .passed = offsetof(Core, calls_skipped),
            .flight = offsetof(Core, flight),
            .said_context = offsetof(Core, last_context_recorded),
            .unused = 0};
}

}  // namespace nopscope
