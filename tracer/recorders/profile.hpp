// SPDX-License-Identifier: Apache-2.0
// The profile recorder's sums: one cell for each site and core (arch/arm64/profile.S).
//
// Self time. Core::profiled is the time of the calls that have ended at the current level. A call
// notes it at its entry. At its exit, the difference is the time of the calls that ended in it: its
// callees and interrupts. Then the call's own time replaces theirs:
//
//     entry: begin = clock, before = profiled                   (at one instant)
//     exit:  duration = clock - begin, inside = profiled - before,
//            profiled = before + duration                       (at one instant)
//            self = duration - inside
//
// The time that recording a call takes in its caller (Core::profile_cost, measured at boot) is in
// no call's self time. So each call adds it, as `cost`, to `profiled`:
//
//     exit:  profiled = before + duration + cost
//            self = duration + cost - inside                    (self_ticks() subtracts the cost)
//
// `profiled`, `cost` and `self` are in 1/256 ticks: the cost is less than a tick of some clocks.
//
// "At one instant": a profiled interrupt changes `profiled`. So if no interrupt came between a load
// and a store of it, with the clock read in the middle, they are one instant. The recorder uses
// exclusives for this, C++ compare-and-exchange. Time outside of entry and exit is the caller's.
#pragma once

#include "tracer/core/tracer_time.hpp"
#include "tracer/protocol/hello.hpp"
#include "tracer/protocol/profile.hpp"
#include "tracer/recorders/per_site_ops.hpp"

#include <span>

namespace nopscope {

// In ticks, except `self`. One core writes it, others may read it. Initially 0, except `min`.
struct alignas(16) ProfileCell {
    struct Events {
        std::uint64_t total;
        std::uint64_t self;
    };
    Events events[protocol::max_events];  // since they were chosen
    std::uint64_t counted;                // calls whose events were counted
    std::uint64_t unused;
    std::uint64_t min;
    std::uint64_t max;
    std::uint64_t total;     // the recorder uses this field's address for the cell
    std::uint64_t self;      // 1/256 ticks; includes Core::profile_cost for each call
    std::uint64_t bins[63];  // by a duration's leading zeros, from 2 on; the sum is all calls

    // Self time of all `calls` calls: without profiled calls inside and the cost of recording them.
    std::int64_t self_ticks(std::uint64_t calls, std::uint64_t cost) const {
        const std::uint64_t all = __atomic_load_n(&self, __ATOMIC_RELAXED) - calls * cost;
        return static_cast<std::int64_t>(all + (1u << (profiled_shift - 1))) >> profiled_shift;
    }
    // Calls whose duration has `bits` significant bits: bin number `bits` on the wire.
    std::uint64_t count(unsigned bits) const {
        return __atomic_load_n(&bins[protocol::profile_bins - 1 - bits], __ATOMIC_RELAXED);
    }
    static constexpr unsigned first_bin = 2;  // leading zeros; 2^62 ticks are 146 years at 1 GHz
    static unsigned bin_of(std::uint64_t duration) {
        return static_cast<unsigned>(__builtin_clzll(duration | 1)) + (duration == 0) - first_bin;
    }
};
inline constexpr std::size_t cell_total = offsetof(ProfileCell, total);
static_assert(offsetof(ProfileCell, bins) == cell_total + 8 * ProfileCell::first_bin &&
              sizeof(ProfileCell) == 592);

// Removes the choice of events, which the recorder keeps above a cell's 48-bit address.
constexpr std::uint64_t cell_address(std::uint64_t frame_cell) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(frame_cell << 16) >> 16);
}
inline ProfileCell& cell_of(const ShadowFrame& frame) {
    return *reinterpret_cast<ProfileCell*>(cell_address(frame.position) - cell_total);
}

// Ends a call without its hook, now or at this clock, as nopscope_profile_hook does. Interrupts are
// masked. What comes after `ended` is the tracer's time, and about as much on its way back as
// recording a call takes.
template <MachineConcept M>
void profile_unwound(M& machine, Core& core, const ShadowFrame& frame, std::uint64_t ended = 0) {
    const std::uint64_t begin = frame.rest[0], before = frame.rest[1];
    const auto after = [&](std::uint64_t clock) {
        return before + ((clock - begin) << profiled_shift) + core.profile_cost;
    };
    const std::uint64_t way_back = ended != 0 ? core.profile_cost : 0;
    const ProfileInstant end = profile_instant(
        machine, core, [&](const ProfileInstant& at) { return after(at.clock) + way_back; });
    if (ended == 0) ended = end.clock;
    ProfileCell& cell = cell_of(frame);
    const std::uint64_t ticks = ended - begin;
    cell.total += ticks;
    cell.self += after(ended) - end.profiled;
    if (ticks < cell.min) cell.min = ticks;
    if (ticks > cell.max) cell.max = ticks;
    ++cell.bins[ProfileCell::bin_of(ticks)];
}

// The same for its events, as nopscope_profile_events_hook does.
inline void profile_events_unwound(Core& core, const ShadowFrame& frame) {
    const EventSet set{core.profile_events};
    if (!set.any() || frame.position >> 48 != set.choice()) return;
    const std::uint64_t total = counters_between(frame.rest[2], arch::read_counters());
    const std::uint64_t now = counters_added(frame.rest[3], total);
    const std::uint64_t self = counters_between(core.evented, now);
    core.evented = now;
    ProfileCell& cell = cell_of(frame);
    for (unsigned n = 0; n < protocol::max_events; ++n) {
        cell.events[n].total += counter_of(total, n);
        cell.events[n].self += counter_of(self, n);
    }
    ++cell.counted;
}

// The recorder's ops, and after them each core's cells. All are indexed by site.
class ProfileMemory {
public:
    static constexpr std::size_t alignment = 128;

    static constexpr std::size_t bytes(std::size_t sites, unsigned cores) {
        return alignment + round_up(sites * sizeof(Ops)) + cores * core_bytes(sites);
    }
    // False: too small.
    bool open(std::span<std::byte> memory, std::uint32_t sites, unsigned cores) {
        if (memory.size() < bytes(sites, cores)) return false;
        ops_ = round_up(reinterpret_cast<std::uintptr_t>(memory.data()));
        cells_ = ops_ + round_up(sites * sizeof(Ops));
        sites_ = sites;
        cores_ = cores;
        return true;
    }
    bool is_open() const { return cells_ != 0; }
    // Core::profile_cost of all cores.
    void set_cost(std::uint64_t cost) { cost_ = cost; }
    std::uint64_t cost() const { return cost_; }
    std::uint32_t sites() const { return sites_; }
    unsigned cores() const { return cores_; }
    // Bytes from core 0's cells to this core's.
    std::uint64_t distance(unsigned core) const { return core * core_bytes(sites_); }
    ProfileCell& cell(unsigned core, std::uint32_t site) const {
        return reinterpret_cast<ProfileCell*>(cells_ + distance(core))[site];
    }

    // Returns all ops. The first call makes them and clears the cells: 592 bytes a site and core.
    // Later calls ignore `entry`.
    PerSiteOps family(std::uint64_t entry) {
        auto* const ops = reinterpret_cast<Ops*>(ops_);
        if (!made_) {
            for (unsigned core = 0; core < cores_; ++core) {
                for (std::uint32_t site = 0; site < sites_; ++site) clear(cell(core, site));
            }
            for (std::uint32_t site = 0; site < sites_; ++site)
                make(ops[site], entry, cell(0, site));
            made_ = true;
        }
        return PerSiteOps::each(ops, sites_);
    }
    // Changes the entry of all ops. The recorder must be on no site.
    void set_entry(std::uint64_t entry) {
        for (std::uint32_t site = 0; made_ && site < sites_; ++site)
            reinterpret_cast<Ops*>(ops_)[site].direct = entry;
    }
    void clear_events() {
        for (unsigned core = 0; made_ && core < cores_; ++core) {
            for (std::uint32_t site = 0; site < sites_; ++site) clear_events(cell(core, site));
        }
    }
    bool made() const { return made_; }  // family() has been called

private:
    static constexpr std::uint64_t round_up(std::uint64_t bytes) {
        return (bytes + alignment - 1) & ~std::uint64_t{alignment - 1};
    }
    // Rounded up, so that cores do not share a cache line.
    static constexpr std::uint64_t core_bytes(std::size_t sites) {
        return round_up(sites * sizeof(ProfileCell));
    }
    static void clear_events(ProfileCell& cell) {
        for (ProfileCell::Events& one : cell.events) one.total = one.self = 0;
        cell.counted = 0;
    }
    static void clear(ProfileCell& cell) {
        clear_events(cell);
        cell.total = cell.self = cell.max = 0;
        for (std::uint64_t& bin : cell.bins) bin = 0;
        cell.min = ~std::uint64_t{0};
    }
    static void make(Ops& ops, std::uint64_t entry, ProfileCell& cell) {
        ops.func = nullptr;
        ops.direct = entry;
        ops.user = nullptr;
        ops.flags = 0;
        ops.sites = 0;
        ops.unguarded = nullptr;
        ops.data = &cell.total;
    }

    std::uintptr_t ops_ = 0;
    std::uintptr_t cells_ = 0;
    std::uint64_t cost_ = 0;
    std::uint32_t sites_ = 0;
    unsigned cores_ = 0;
    bool made_ = false;
};
extern ProfileMemory profile_memory;  // of this image

// The function's profiled calls, on all cores.
std::uint64_t profiled_calls(std::uint32_t index);
// Returns the address that the recorder uses for the function's cell of core 0; 0: it has none.
// `body`: the address after the patch site.
extern "C" std::uint64_t nopscope_profile_cell(Core*, std::uint64_t sp, std::uint64_t caller,
                                               std::uint64_t body);

}  // namespace nopscope
