// SPDX-License-Identifier: Apache-2.0
// The duration recorder's slow paths: the ring is full, recording is stopped, or longjmp ended the
// call. A frame's `position` is the body, `rest[0]` the clock at the entry (arch/arm64/duration.S).
#pragma once

#include "tracer/arch/patch_site.hpp"
#include "tracer/core/ring.hpp"

namespace nopscope {

inline constexpr std::uint64_t duration_bytes = 3 * record_bytes;

// In ticks. 0 if `now` is before the entry, because the counter was read too early.
constexpr std::uint64_t duration_of(const ShadowFrame& frame, std::uint64_t now) {
    const std::uint64_t ticks = now - frame.rest[0];
    return static_cast<std::int64_t>(ticks) < 0 ? 0 : ticks;
}

// Records a call that ends now, with interrupts masked. Its frame is the top or was just popped.
// False: there is no room.
template <MachineConcept M>
bool put_duration(M& machine, Core& core, const ShadowFrame& frame, std::uint64_t limit,
                  Moment* ended = nullptr) {
    const std::optional<Claim> claim = ring_claim(machine, core, duration_bytes, limit, ended);
    if (!claim) return false;
    const auto depth = static_cast<std::uint32_t>(
        (reinterpret_cast<std::uintptr_t>(&frame) - core.shadow_base) / sizeof(ShadowFrame));
    const std::uint64_t data[] = {site_of(function_of_body(frame.position)),
                                  duration_of(frame, claim->clock)};
    ring_store_many(core, *claim, protocol::make_extended(protocol::Extended::duration, depth),
                    data);
    return true;
}

// Ends a call without its hook, now or when it `ended`. Interrupts are masked; the context's lock
// may be held. False: there is no record.
template <MachineConcept M>
bool duration_unwound(M& machine, Core& core, const ShadowFrame& frame, Moment* ended = nullptr) {
    const std::uint64_t now = ended != nullptr ? ended->clock : machine.clock();
    const bool is_short = duration_of(frame, now) < core.min_duration;
    if (!is_short && core.context_record_pending == 0 &&
        put_duration(machine, core, frame, entry_limit(core), ended))
        return true;
    add_one(is_short ? core.filtered : core.dropped);
    return false;
}

}  // namespace nopscope
