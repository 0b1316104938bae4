// SPDX-License-Identifier: Apache-2.0
// The profile: what the profile recorder adds up, one cell for each site and core (arch/arm64/profile.S).
//
// Self time. Core::profiled holds, at each moment, the time of the calls that have ended at the present
// level. A call notes it at its entry. What has been added when it ends are the calls that ended in it,
// which are its callees and interrupts; then the call itself takes their place:
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
//            self = duration + cost - inside                    (the cost once too often: ProfileCell::self_ticks)
//
// `profiled`, `cost` and `self` are in 1/256 ticks, because the cost is less than a tick of some
// clocks.
//
// "At one instant": an interrupt that is profiled itself changes `profiled`, so a load and a store of
// it that nothing came between, with the clock read in the middle, are one instant for it. The recorder
// uses exclusives, C++ compares. Whatever lies outside of both is the caller's.
#pragma once

#include "tracer/core/tracer_time.hpp"
#include "tracer/recorders/per_site_ops.hpp"
#include "tracer/protocol/hello.hpp"
#include "tracer/protocol/profile.hpp"

#include <span>

namespace nopscope {

// Ticks, but for `self`. One core changes it, another may read it. Zeroed but for `min`.
struct alignas(16) ProfileCell {
    struct Events {
        std::uint64_t total;
        std::uint64_t self;
    };
    Events events[protocol::max_events];  // since they were chosen
    std::uint64_t counted;            // calls of which they are
    std::uint64_t unused;
    std::uint64_t min;
    std::uint64_t max;
    std::uint64_t total;  // the recorder knows the cell by this one's address
    std::uint64_t self;   // 1/256 ticks, and Core::profile_cost for each call
    std::uint64_t bins[63];  // of durations, by leading zeros from 2 on. Their sum is the number of calls

    // Self time of all calls, which are `calls`: without the profiled calls inside, and without the
    // overhead of recording these.
    std::int64_t self_ticks(std::uint64_t calls, std::uint64_t cost) const {
        const std::uint64_t all = __atomic_load_n(&self, __ATOMIC_RELAXED) - calls * cost;
        return static_cast<std::int64_t>(all + (1u << (profiled_shift - 1))) >> profiled_shift;
    }
    // Of the wire's bin: calls whose duration has so many significant bits.
    std::uint64_t count(unsigned bits) const {
        return __atomic_load_n(&bins[protocol::profile_bins - 1 - bits], __ATOMIC_RELAXED);
    }
    static constexpr unsigned first_bin = 2;  // of leading zeros; 2^62 ticks are 146 years at 1 GHz
    static unsigned bin_of(std::uint64_t duration) {
        return static_cast<unsigned>(__builtin_clzll(duration | 1)) + (duration == 0) - first_bin;
    }
};
inline constexpr std::size_t cell_total = offsetof(ProfileCell, total);
static_assert(offsetof(ProfileCell, bins) == cell_total + 8 * ProfileCell::first_bin && sizeof(ProfileCell) == 592);

// The recorder that counts events keeps their choice above a cell's address.
constexpr std::uint64_t cell_address(std::uint64_t frame_cell) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(frame_cell << 16) >> 16);
}
inline ProfileCell& cell_of(const ShadowFrame& frame) {
    return *reinterpret_cast<ProfileCell*>(cell_address(frame.position) - cell_total);
}

// A call that was left by longjmp ends here: as in nopscope_profile_hook, with interrupts masked.
template <MachineConcept M>
void profile_unwound(M& machine, Core& core, const ShadowFrame& frame) {
    const std::uint64_t begin = frame.rest[0], before = frame.rest[1];
    const auto duration = [&](const ProfileInstant& at) { return at.clock - begin; };
    const auto after = [&](const ProfileInstant& at) {
        return before + (duration(at) << profiled_shift) + core.profile_cost;
    };
    const ProfileInstant end = profile_instant(machine, core, after);
    ProfileCell& cell = cell_of(frame);
    const std::uint64_t ticks = duration(end);
    cell.total += ticks;
    cell.self += after(end) - end.profiled;
    if (ticks < cell.min) cell.min = ticks;
    if (ticks > cell.max) cell.max = ticks;
    ++cell.bins[ProfileCell::bin_of(ticks)];
}

// And as in nopscope_profile_events_hook.
inline void profile_events_unwound(Core& core, const ShadowFrame& frame) {
    const EventSet set{core.profile_events};
    if (!set.any() || frame.position >> 48 != set.choice()) return;
    const std::uint64_t total = counters_between(frame.rest[2], read_counters());
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

// The recorder's ops, one for each site, and the cells behind them: each core's by the sites' indexes.
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
    // From core 0's cells to this core's.
    std::uint64_t distance(unsigned core) const { return core * core_bytes(sites_); }
    ProfileCell& cell(unsigned core, std::uint32_t site) const {
        return reinterpret_cast<ProfileCell*>(cells_ + distance(core))[site];
    }

    // All that is in it. The first call of this clears it: 592 bytes a site and core. Later ones' `entry` is that of
    // the first, or of set_entry().
    PerSiteOps family(std::uint64_t entry) {
        auto* const ops = reinterpret_cast<Ops*>(ops_);
        if (!made_) {
            for (unsigned core = 0; core < cores_; ++core) {
                for (std::uint32_t site = 0; site < sites_; ++site) clear(cell(core, site));
            }
            for (std::uint32_t site = 0; site < sites_; ++site) make(ops[site], entry, cell(0, site));
            made_ = true;
        }
        return PerSiteOps::each(ops, sites_);
    }
    // What the recorder's sites reach from here on; none must be traced by it.
    void set_entry(std::uint64_t entry) {
        for (std::uint32_t site = 0; made_ && site < sites_; ++site) reinterpret_cast<Ops*>(ops_)[site].direct = entry;
    }
    void clear_events() {
        for (unsigned core = 0; made_ && core < cores_; ++core) {
            for (std::uint32_t site = 0; site < sites_; ++site) clear_events(cell(core, site));
        }
    }
    // family() has been called.
    bool made() const { return made_; }

private:
    static constexpr std::uint64_t round_up(std::uint64_t bytes) {
        return (bytes + alignment - 1) & ~std::uint64_t{alignment - 1};
    }
    // Cores do not share a line.
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

// On all cores.
std::uint64_t profiled_calls(std::uint32_t index);
// The address by which the recorder knows the function's cell of core 0; 0: it has none. `body`: where its code goes on
// behind the patch site.
extern "C" std::uint64_t nopscope_profile_cell(Core*, std::uint64_t sp, std::uint64_t caller, std::uint64_t body);

}  // namespace nopscope
