// SPDX-License-Identifier: Apache-2.0
// Labels of the assembly. Hooked calls return to a hook. It tells which recorder owns the frame.
#pragma once

#include "tracer/arch/instructions.hpp"

#include <cstdint>

extern "C" {
// All that follows lies between these two (arch/arm64/recording.S).
extern const char nopscope_recording[], nopscope_recording_end[];
// arch/arm64/recorders.S, callback_hook.S, profile.S, duration.S and sampled.S.
extern const char nopscope_return_hook[], nopscope_graph_events_hook[], nopscope_callback_hook[],
    nopscope_profile_hook[], nopscope_profile_events_hook[], nopscope_profile_events_hook_end[],
    nopscope_duration_hook[];
extern const char nopscope_function_entry[], nopscope_function_entry_end[], nopscope_graph_entry[],
    nopscope_graph_entry_end[], nopscope_profile_entry[], nopscope_profile_entry_end[],
    nopscope_duration_entry[], nopscope_duration_entry_end[], nopscope_sampled_entry[],
    nopscope_sampled_entry_end[], nopscope_graph_events_entry[], nopscope_graph_events_entry_end[],
    nopscope_profile_events_entry[], nopscope_profile_events_entry_end[];
// arch/arm64/callbacks.S. `made`: behind the call of the callback.
extern const char nopscope_callback[], nopscope_callback_made[], nopscope_callback_unguarded[],
    nopscope_callback_unguarded_made[], nopscope_far[], nopscope_far_end[];
// Instructions, as in protocol::EventCosts.
extern const std::uint16_t nopscope_graph_events_costs[3], nopscope_profile_events_costs[2];
}

namespace nopscope {

inline std::uint64_t address_of(const char* label) {
    return reinterpret_cast<std::uintptr_t>(label);
}

enum class Hook : std::uint8_t {
    none,
    graph,
    callback,
    profile,
    duration,
    graph_events,
    profile_events
};

inline std::uint64_t hook_address(Hook hook) {
    switch (hook) {
    case Hook::graph: return address_of(nopscope_return_hook);
    case Hook::callback: return address_of(nopscope_callback_hook);
    case Hook::profile: return address_of(nopscope_profile_hook);
    case Hook::duration: return address_of(nopscope_duration_hook);
    case Hook::graph_events: return address_of(nopscope_graph_events_hook);
    case Hook::profile_events: return address_of(nopscope_profile_events_hook);
    case Hook::none: break;
    }
    return 0;
}
// Hooks are aligned functions. Half of all return addresses are not, so this is a quick test. They
// lie in one range of code, where no return address of the firmware lies.
inline constexpr std::uint64_t hook_alignment = 8;

inline Hook hook_of(std::uint64_t address) {
    if (address % hook_alignment != 0) return Hook::none;
    const std::uint64_t begin = address_of(nopscope_recording);
    if (address - begin >= address_of(nopscope_recording_end) - begin) return Hook::none;
    if (address == hook_address(Hook::graph)) return Hook::graph;
    if (address == hook_address(Hook::callback)) return Hook::callback;
    if (address == hook_address(Hook::profile)) return Hook::profile;
    if (address == hook_address(Hook::duration)) return Hook::duration;
    if (address == hook_address(Hook::graph_events)) return Hook::graph_events;
    if (address == hook_address(Hook::profile_events)) return Hook::profile_events;
    return Hook::none;
}
// In a hook, the link register is the hook's address, or the address after its first word, a call.
inline bool is_hook_or_behind_its_call(std::uint64_t address) {
    return hook_of(address) != Hook::none || hook_of(address - arch::call_bytes) != Hook::none;
}

}  // namespace nopscope
