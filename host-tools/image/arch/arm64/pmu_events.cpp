// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/arch/pmu_events.hpp"

#include <fmt/format.h>

#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

struct NamedEvent {
    std::uint16_t number;
    const char* name;
};
constexpr NamedEvent events[] = {
    {0x00, "sw_incr"},
    {0x01, "l1i_cache_refill"},
    {0x02, "l1i_tlb_refill"},
    {0x03, "l1d_cache_refill"},
    {0x04, "l1d_cache"},
    {0x05, "l1d_tlb_refill"},
    {0x06, "ld_retired"},
    {0x07, "st_retired"},
    {0x08, "inst_retired"},
    {0x09, "exc_taken"},
    {0x0a, "exc_return"},
    {0x0b, "cid_write_retired"},
    {0x0c, "pc_write_retired"},
    {0x0d, "br_immed_retired"},
    {0x0e, "br_return_retired"},
    {0x0f, "unaligned_ldst_retired"},
    {0x10, "br_mis_pred"},
    {0x11, "cpu_cycles"},
    {0x12, "br_pred"},
    {0x13, "mem_access"},
    {0x14, "l1i_cache"},
    {0x15, "l1d_cache_wb"},
    {0x16, "l2d_cache"},
    {0x17, "l2d_cache_refill"},
    {0x18, "l2d_cache_wb"},
    {0x19, "bus_access"},
    {0x1a, "memory_error"},
    {0x1b, "inst_spec"},
    {0x1c, "ttbr_write_retired"},
    {0x1d, "bus_cycles"},
    {0x1f, "l1d_cache_allocate"},
    {0x20, "l2d_cache_allocate"},
    {0x21, "br_retired"},
    {0x22, "br_mis_pred_retired"},
    {0x23, "stall_frontend"},
    {0x24, "stall_backend"},
    {0x25, "l1d_tlb"},
    {0x26, "l1i_tlb"},
    {0x27, "l2i_cache"},
    {0x28, "l2i_cache_refill"},
    {0x29, "l3d_cache_allocate"},
    {0x2a, "l3d_cache_refill"},
    {0x2b, "l3d_cache"},
    {0x2c, "l3d_cache_wb"},
    {0x2d, "l2d_tlb_refill"},
    {0x2e, "l2i_tlb_refill"},
    {0x2f, "l2d_tlb"},
    {0x30, "l2i_tlb"},
    {0x31, "remote_access"},
    {0x32, "ll_cache"},
    {0x33, "ll_cache_miss"},
    {0x34, "dtlb_walk"},
    {0x35, "itlb_walk"},
    {0x36, "ll_cache_rd"},
    {0x37, "ll_cache_miss_rd"},
    {0x38, "remote_access_rd"},
    {0x39, "l1d_cache_lmiss_rd"},
    {0x3a, "op_retired"},
    {0x3b, "op_spec"},
    {0x3c, "stall"},
    {0x3d, "stall_slot_backend"},
    {0x3e, "stall_slot_frontend"},
    {0x3f, "stall_slot"},
    {0x4004, "cnt_cycles"},
    {0x4005, "stall_backend_mem"},
    {0x4006, "l1i_cache_lmiss"},
    {0x4009, "l2d_cache_lmiss_rd"},
    {0x400a, "l2i_cache_lmiss"},
    {0x400b, "l3d_cache_lmiss_rd"},
    {0x4020, "ldst_align_lat"},
    {0x4021, "ld_align_lat"},
    {0x4022, "st_align_lat"},
};

}  // namespace

std::optional<std::uint16_t> event_number(std::string_view name) {
    for (const NamedEvent& event : events) {
        if (name == event.name) return event.number;
    }
    const auto number = read_number(name);
    if (!number || *number > 0xffff) return std::nullopt;
    return static_cast<std::uint16_t>(*number);
}

std::string event_name(std::uint32_t number) {
    for (const NamedEvent& event : events) {
        if (number == event.number) return event.name;
    }
    return fmt::format("{:#x}", number);
}

std::vector<std::string> event_words() {
    std::vector<std::string> words;
    for (const NamedEvent& event : events) words.emplace_back(event.name);
    return words;
}

std::string event_list() {
    std::string out;
    for (const NamedEvent& event : events)
        out += fmt::format("{:#06x}  {}\n", event.number, event.name);
    return out;
}

}  // namespace nopscope::host
