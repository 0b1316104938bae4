// SPDX-License-Identifier: Apache-2.0
// Symbols that slots and lists refer to, for the host. On a board they are in
// tracer/arch/arm64/callbacks.S and tracer.cpp.
#include "tracer/core/hooks.hpp"
#include "tracer/patching/ops_list_pool.hpp"

#include <cstdlib>

// The hooks lie in one range, as on a board. No compiler promises that for variables.
asm(R"(
    .pushsection .rodata
    .balign 8
    .globl nopscope_recording, nopscope_recording_end
nopscope_recording:
    .globl nopscope_return_hook, nopscope_callback_hook, nopscope_profile_hook
    .globl nopscope_duration_hook, nopscope_graph_events_hook, nopscope_profile_events_hook
nopscope_return_hook:           .quad 0
nopscope_callback_hook:         .quad 0
nopscope_profile_hook:          .quad 0
nopscope_duration_hook:         .quad 0
nopscope_graph_events_hook:     .quad 0
nopscope_profile_events_hook:   .quad 0
nopscope_recording_end:
    .popsection
)");

// No test calls these.
extern "C" void nopscope_walk_list(std::uint64_t, std::uint64_t, nopscope::Ops*, nopscope::Regs*) {
    std::abort();
}
void nopscope::guarded(std::uint64_t, std::uint64_t, Ops*, Regs*) { std::abort(); }
