// SPDX-License-Identifier: Apache-2.0
// The board's profile: reads its cells, and finds a call's cell if the slot has none.
#include "tracer/recorders/profile_sender.hpp"

#include "tracer/arch/machine.hpp"
#include "tracer/arch/patch_site.hpp"
#include "tracer/core/cores.hpp"
#include "tracer/core/image.hpp"

namespace nopscope {

constinit ProfileMemory profile_memory;
constinit ProfileSender profile_sender(profile_memory, sites);

std::size_t profile_bytes(unsigned config_cores) {
    return ProfileMemory::bytes(
        static_cast<std::size_t>(__nopscope_sites_end - __nopscope_sites_start), config_cores);
}
bool read_profile(std::uint32_t index, unsigned core, SiteProfile& out) {
    if (!profile_memory.made() || index >= site_count() || core >= profile_memory.cores())
        return false;
    const ProfileCell& cell = profile_memory.cell(core, index);
    out.total = cell.total;
    out.min = cell.min;
    out.max = cell.max;
    out.calls = 0;
    for (unsigned n = 0; n < protocol::profile_bins; ++n) out.calls += out.bins[n] = cell.count(n);
    out.self = static_cast<std::uint64_t>(cell.self_ticks(out.calls, profile_memory.cost()));
    return true;
}

std::uint64_t profiled_calls(std::uint32_t index) {
    std::uint64_t calls = 0;
    for (unsigned core = 0; core < profile_memory.cores(); ++core) {
        for (unsigned n = 0; n < protocol::profile_bins; ++n)
            calls += profile_memory.cell(core, index).count(n);
    }
    return calls;
}

extern "C" std::uint64_t nopscope_profile_cell(Core*, std::uint64_t, std::uint64_t,
                                               std::uint64_t body) {
    const auto index = lookup(function_of_body(body));
    if (!index || !profile_memory.made()) return 0;
    return reinterpret_cast<std::uintptr_t>(&profile_memory.cell(0, *index).total);
}

}  // namespace nopscope
