// SPDX-License-Identifier: Apache-2.0
// Offsets and constants for the assembly. This file is never linked: cmake/assembly_offsets.cmake
// reads the lines of text from the object file and writes nopscope_offsets.h.
//
// Some instructions load or store two words. PAIR checks that the second follows the first.
#include "tracer/core/core.hpp"
#include "tracer/patching/ops_list_pool.hpp"
#include "tracer/protocol/record.hpp"
#include "tracer/recorders/profile.hpp"

#include <array>

namespace nopscope {
namespace {

// "@NAME VALUE", a line of its own in the object file.
template <std::size_t N>
constexpr auto line(const char (&name)[N], long value) {
    std::array<char, N + 24> text{};
    std::size_t at = 0;
    const auto put = [&](char c) { text[at++] = c; };
    put('@');
    for (std::size_t i = 0; i + 1 < N; ++i) put(name[i]);
    put(' ');
    if (value < 0) put('-');
    const unsigned long magnitude =
        value < 0 ? -static_cast<unsigned long>(value) : static_cast<unsigned long>(value);
    unsigned long ten = 1;
    while (magnitude / ten >= 10) ten *= 10;
    for (; ten != 0; ten /= 10) put(static_cast<char>('0' + magnitude / ten % 10));
    put('\n');
    return text;
}

#define VALUE(name, value) \
    [[gnu::used]] constexpr auto line_##name = line(#name, static_cast<long>(value))
#define OFFSET(name, type, member) VALUE(name, offsetof(type, member))
#define PAIR(type, first, second)                                                          \
    static_assert(offsetof(type, first) + sizeof(type::first) == offsetof(type, second) && \
                  offsetof(type, first) % 8 == 0)
#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // OpsList derives from Ops

static_assert(offsetof(Core, cursor) == 0);  // exclusive loads and stores have no offset
PAIR(Core, cursor, events);
OFFSET(CORE_PROFILED, Core, profiled);
OFFSET(CORE_PROFILE_COST, Core, profile_cost);
PAIR(Core, profiled, profile_cost);
OFFSET(CORE_PASSED, Core, calls_skipped);
OFFSET(CORE_SAMPLE_NEXT, Core, sample_next);
PAIR(Core, calls_skipped, sample_next);
OFFSET(CORE_EVENTED, Core, evented);
PAIR(Core, evented, profile_events);
OFFSET(CORE_FRAMES_END, Core, frames_end);
OFFSET(CORE_STACK_HIGH, Core, stack_high);
OFFSET(CORE_LEFT, Core, left_position);
PAIR(Core, left_position, left_clock);
OFFSET(CORE_SAMPLE_GAP, Core, sample_gap);
OFFSET(CORE_AGGREGATES, Core, aggregates);
OFFSET(CORE_CELLS, Core, cells);
PAIR(Core, cells, limit);
OFFSET(CORE_LIMIT, Core, limit);
PAIR(Core, limit, ring);
OFFSET(CORE_RING, Core, ring);
OFFSET(CORE_RING_AGAIN, Core, ring_again);
PAIR(Core, ring_again, top);
OFFSET(CORE_TOP, Core, top);
PAIR(Core, top, shadow_end);
OFFSET(CORE_SHADOW_END, Core, shadow_end);
PAIR(Core, shadow_end, lowest_sp);
OFFSET(CORE_LOWEST_SP, Core, lowest_sp);
OFFSET(CORE_DROPPED, Core, dropped);
OFFSET(CORE_SHADOW_STACK_FULL, Core, shadow_stack_full);
OFFSET(CORE_OFF_STACK, Core, off_stack);
OFFSET(CORE_LOSSLESS, Core, lossless);
OFFSET(CORE_DEPTH, Core, depth);
OFFSET(CORE_RECURSION, Core, recursions);
OFFSET(CORE_UNGUARDED, Core, unguarded);
OFFSET(CORE_FILTERED, Core, filtered);
OFFSET(CORE_MIN_DURATION, Core, min_duration);
PAIR(Core, filtered, min_duration);
OFFSET(CORE_SHADOW_BASE, Core, shadow_base);
OFFSET(CORE_STACK_LOW, Core, stack_low);
OFFSET(CORE_DEFERRED_EXIT, Core, deferred_exit);
PAIR(Core, deferred_exit, deferred_masks);
OFFSET(CORE_DEFERRAL_AT, Core, deferral_at);
OFFSET(CORE_GUARDS, Core, guards);

static_assert(offsetof(ShadowFrame, return_address) == 0);
PAIR(ShadowFrame, return_address, sp);
OFFSET(SHADOW_SP, ShadowFrame, sp);
OFFSET(SHADOW_HOOK, ShadowFrame, hook);
PAIR(ShadowFrame, hook, position);
OFFSET(SHADOW_POSITION, ShadowFrame, position);
OFFSET(SHADOW_REST, ShadowFrame, rest);
VALUE(SHADOW_BYTES, sizeof(ShadowFrame));

OFFSET(OPS_FUNC, Ops, func);
PAIR(Ops, func, direct);
OFFSET(OPS_DIRECT, Ops, direct);
OFFSET(OPS_UNGUARDED, Ops, unguarded);
OFFSET(OPS_DATA, Ops, data);
OFFSET(LIST_COUNT, OpsList, count);
VALUE(LIST_MEMBERS, sizeof(OpsList));

OFFSET(REGS_FP, Regs, fp);
OFFSET(REGS_LR, Regs, lr);
PAIR(Regs, lr, sp);
OFFSET(REGS_PC, Regs, pc);
static_assert(offsetof(Regs, fp) == sizeof(Regs::x));

// The recorder has the address of a cell's `total`.
VALUE(CELL_MIN, offsetof(ProfileCell, min) - cell_total);
PAIR(ProfileCell, min, max);
VALUE(CELL_EVENTS, offsetof(ProfileCell, events) - cell_total);
PAIR(ProfileCell, events, counted);
PAIR(ProfileCell, total, self);
VALUE(PROFILED_SHIFT, profiled_shift);

// High words of records, without their arguments.
VALUE(KIND_ENTRY, protocol::Kind::entry);
VALUE(KIND_RET, protocol::Kind::ret);
VALUE(DATA, protocol::make_extended(protocol::Extended::data, 0).high());
VALUE(DURATION, protocol::make_extended(protocol::Extended::duration, 0).high());

}  // namespace
}  // namespace nopscope
