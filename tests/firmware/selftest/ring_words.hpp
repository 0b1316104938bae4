// SPDX-License-Identifier: Apache-2.0
// A core's ring, as the tests look at it. They do not include tracer/core/ring.hpp: its functions
// would be compiled here with vector registers, and the linker may choose these copies.
#pragma once

#include <cstdint>

#include "tracer/core/cores.hpp"
#include "tracer/protocol/record.hpp"

namespace nopscope::selftest {

// The record at a position that has been written. A `ret` counts its entry from lap 0 (core.hpp).
inline protocol::Record record_at(const Core& core, std::uint64_t position) {
    const std::uint64_t lap = static_cast<std::uint32_t>(position >> lap_shift);
    const auto* const slot =
        reinterpret_cast<const std::uint64_t*>(core.ring + (position & (ring_bytes - 1)));
    return {__atomic_load_n(slot, __ATOMIC_RELAXED) ^ lap << protocol::kind_shift};
}
inline std::uint64_t index_at(std::uint64_t position) {
    return (position - ring_bytes) / record_bytes;
}

}  // namespace nopscope::selftest
