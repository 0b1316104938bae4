// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/arch/pmu_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

// The names from number 0 on; a dash: there is no such event.
constexpr std::string_view common_events =
    "sw_incr l1i_cache_refill l1i_tlb_refill l1d_cache_refill l1d_cache l1d_tlb_refill "
    "ld_retired st_retired inst_retired exc_taken exc_return cid_write_retired pc_write_retired "
    "br_immed_retired br_return_retired unaligned_ldst_retired br_mis_pred cpu_cycles br_pred "
    "mem_access l1i_cache l1d_cache_wb l2d_cache l2d_cache_refill l2d_cache_wb bus_access "
    "memory_error inst_spec ttbr_write_retired bus_cycles - l1d_cache_allocate "
    "l2d_cache_allocate br_retired br_mis_pred_retired stall_frontend stall_backend l1d_tlb "
    "l1i_tlb l2i_cache l2i_cache_refill l3d_cache_allocate l3d_cache_refill l3d_cache "
    "l3d_cache_wb l2d_tlb_refill l2i_tlb_refill l2d_tlb l2i_tlb remote_access ll_cache "
    "ll_cache_miss dtlb_walk itlb_walk ll_cache_rd ll_cache_miss_rd remote_access_rd "
    "l1d_cache_lmiss_rd op_retired op_spec stall stall_slot_backend stall_slot_frontend "
    "stall_slot";
struct NamedEvent {
    std::uint16_t number;
    std::string_view name;
};
constexpr NamedEvent more_events[] = {
    {0x4004, "cnt_cycles"},         {0x4005, "stall_backend_mem"}, {0x4006, "l1i_cache_lmiss"},
    {0x4009, "l2d_cache_lmiss_rd"}, {0x400a, "l2i_cache_lmiss"},   {0x400b, "l3d_cache_lmiss_rd"},
    {0x4020, "ldst_align_lat"},     {0x4021, "ld_align_lat"},      {0x4022, "st_align_lat"},
};

// All that have a name, by number.
constexpr auto all_events = [] {
    constexpr auto common = std::ranges::count(common_events, ' ');  // one of the names is a dash
    std::array<NamedEvent, common + std::size(more_events)> all;
    auto* to = all.data();
    std::uint16_t number = 0;
    for (const auto word : common_events | std::views::split(' ')) {
        const std::string_view name(word.begin(), word.end());
        if (name != "-") *to++ = {number, name};
        ++number;
    }
    std::ranges::copy(more_events, to);
    return all;
}();

}  // namespace

std::optional<std::uint16_t> event_number(std::string_view name) {
    const auto named = std::ranges::find(all_events, name, &NamedEvent::name);
    if (named != all_events.end()) return named->number;
    const auto number = read_number(name);
    if (!number || *number > 0xffff) return std::nullopt;
    return static_cast<std::uint16_t>(*number);
}

std::string event_name(std::uint32_t number) {
    const auto named = std::ranges::lower_bound(all_events, number, {}, &NamedEvent::number);
    const bool has_name = named != all_events.end() && named->number == number;
    return has_name ? std::string(named->name) : fmt::format("{:#x}", number);
}

std::vector<std::string> event_words() {
    std::vector<std::string> words;
    for (const NamedEvent& event : all_events) words.emplace_back(event.name);
    return words;
}

std::string event_list() {
    std::string out;
    for (const auto& [number, name] : all_events) out += fmt::format("{:#06x}  {}\n", number, name);
    return out;
}

}  // namespace nopscope::host
