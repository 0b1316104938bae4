// SPDX-License-Identifier: Apache-2.0
// Functions for backtraces: they find the addresses that the tracer's hooks and entries hide.
#include "nopscope/nopscope.hpp"
#include "tracer/arch/patch_site.hpp"
#include "tracer/core/here.hpp"
#include "tracer/core/hooks.hpp"
#include "tracer/recorders/shadow_stack.hpp"

namespace nopscope {

bool is_return_hook(std::uint64_t address) { return is_hook_or_behind_its_call(address); }

// There the link register holds the function's body, and another its return address (site_link()).
bool is_entry_code(std::uint64_t pc) {
    const auto within = [pc](const char* begin, const char* end) {
        return pc >= reinterpret_cast<std::uintptr_t>(begin) &&
               pc < reinterpret_cast<std::uintptr_t>(end);
    };
    return way_to_entries().contains(pc) ||
           within(nopscope_function_entry, nopscope_function_entry_end) ||
           within(nopscope_graph_entry, nopscope_graph_entry_end) ||
           within(nopscope_profile_entry, nopscope_profile_entry_end) ||
           within(nopscope_duration_entry, nopscope_duration_entry_end) ||
           within(nopscope_sampled_entry, nopscope_sampled_entry_end) ||
           within(nopscope_graph_events_entry, nopscope_graph_events_entry_end) ||
           within(nopscope_profile_events_entry, nopscope_profile_events_entry_end) ||
           within(nopscope_callback, nopscope_callback_made) ||
           within(nopscope_callback_unguarded, nopscope_callback_unguarded_made) ||
           within(nopscope_far, nopscope_far_end);
}

std::uint64_t hooked_return_address(unsigned depth) {
    std::uint64_t found = 0;
    const Core* const core = joined_core();
    if (core == nullptr) return 0;
    for_each_open(*core, [&](const ShadowFrame& frame) {
        // Skips further frames of the same call, or of a call that tail-called it.
        if (is_return_hook(frame.return_address)) return true;
        if (depth-- != 0) return true;
        found = frame.return_address;
        return false;
    });
    return found;
}

std::uint64_t hooked_return_address_of(std::uint64_t low, std::uint64_t high) {
    std::uint64_t found = 0;
    const Core* const core = joined_core();
    if (core == nullptr) return 0;
    for_each_open(*core, [&](const ShadowFrame& frame) {
        if (frame.sp < low) return true;
        if (frame.sp > high) return false;
        found = caller_behind(*core, frame.return_address, &frame);
        return false;
    });
    return found;
}

}  // namespace nopscope
