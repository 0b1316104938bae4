// SPDX-License-Identifier: Apache-2.0
// Labels of the assembly; and the hooks that hooked calls return to. A shadow frame's `hook` says whose it is.
#pragma once

#include <cstdint>

extern "C" const char nopscope_return_hook[], nopscope_graph_events_hook[];    // arm64/recorders.S
extern "C" const char nopscope_callback_hook[];  // arm64/callback_hook.S
extern "C" const char nopscope_profile_hook[], nopscope_profile_events_hook[];   // arm64/profile.S
extern "C" const char nopscope_duration_hook[];  // arm64/duration.S

// arm64/recorders.S, profile.S, duration.S and sampled.S.
extern "C" const char nopscope_function_entry[], nopscope_graph_entry[], nopscope_profile_entry[],
    nopscope_profile_entry_end[], nopscope_duration_entry[], nopscope_sampled_entry[],
    nopscope_graph_events_entry[], nopscope_profile_events_entry[], nopscope_profile_events_entry_end[],
    nopscope_profile_events_hook_end[];
// arm64/recorders.S and profile.S: instructions, as wire::EventCosts has them.
extern "C" const std::uint16_t nopscope_graph_events_costs[3], nopscope_profile_events_costs[2];
// arm64/callbacks.S.
extern "C" const char nopscope_callback[], nopscope_callback_unguarded[], nopscope_far[],
    nopscope_far_end[];

namespace nopscope {

enum class Hook : std::uint8_t { none, graph, callback, profile, duration, graph_events, profile_events };

inline std::uint64_t hook_address(Hook hook) {
    switch (hook) {
        case Hook::graph: return reinterpret_cast<std::uintptr_t>(nopscope_return_hook);
        case Hook::callback: return reinterpret_cast<std::uintptr_t>(nopscope_callback_hook);
        case Hook::profile: return reinterpret_cast<std::uintptr_t>(nopscope_profile_hook);
        case Hook::duration: return reinterpret_cast<std::uintptr_t>(nopscope_duration_hook);
        case Hook::graph_events: return reinterpret_cast<std::uintptr_t>(nopscope_graph_events_hook);
        case Hook::profile_events: return reinterpret_cast<std::uintptr_t>(nopscope_profile_events_hook);
        case Hook::none: break;
    }
    return 0;
}
// Hooks are functions, so they begin where half of all calls do not return to.
inline constexpr std::uint64_t hook_alignment = 8;

inline Hook hook_of(std::uint64_t address) {
    if (address % hook_alignment != 0) return Hook::none;
    if (address == hook_address(Hook::graph)) return Hook::graph;
    if (address == hook_address(Hook::callback)) return Hook::callback;
    if (address == hook_address(Hook::profile)) return Hook::profile;
    if (address == hook_address(Hook::duration)) return Hook::duration;
    if (address == hook_address(Hook::graph_events)) return Hook::graph_events;
    if (address == hook_address(Hook::profile_events)) return Hook::profile_events;
    return Hook::none;
}

}  // namespace nopscope
