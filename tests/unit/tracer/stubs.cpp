// SPDX-License-Identifier: Apache-2.0
// Symbols that slots and lists refer to, for the host. On a board they are in
// tracer/arch/arm64/callbacks.S and tracer.cpp.
#include "tracer/core/hooks.hpp"
#include "tracer/patching/ops_list_pool.hpp"

#include <cstdlib>

extern "C" {
alignas(nopscope::hook_alignment) const char nopscope_return_hook[1]{};
alignas(nopscope::hook_alignment) const char nopscope_callback_hook[1]{};
alignas(nopscope::hook_alignment) const char nopscope_profile_hook[1]{};
alignas(nopscope::hook_alignment) const char nopscope_duration_hook[1]{};
alignas(nopscope::hook_alignment) const char nopscope_graph_events_hook[1]{};
alignas(nopscope::hook_alignment) const char nopscope_profile_events_hook[1]{};
}

// No test calls these.
extern "C" void nopscope_walk_list(std::uint64_t, std::uint64_t, nopscope::Ops*, nopscope::Regs*) {
    std::abort();
}
void nopscope::guarded(std::uint64_t, std::uint64_t, Ops*, Regs*) { std::abort(); }
