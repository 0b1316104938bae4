// SPDX-License-Identifier: Apache-2.0
// The board's cores, and facts about the board from init(). They are globals: one tracer an image.
#pragma once

#include "nopscope/nopscope.hpp"
#include "tracer/core/core.hpp"
#include "tracer/core/in_force.hpp"
#include "tracer/core/site_table.hpp"
#include "tracer/core/strays.hpp"
#include "tracer/protocol/hello.hpp"

#include <span>

namespace nopscope {

// A core's memory in the section .nopscope.ring.
struct CoreMemory {
    alignas(64) std::uint64_t ring[ring_bytes / sizeof(std::uint64_t)];
    alignas(64) ShadowFrame shadow[shadow_frames + 1];
    Grave graves[max_graves];
};

extern bool initialised;       // init() has returned Status::ok
extern bool durations_used;    // the duration recorder has been enabled in this session
extern protocol::Hello hello;  // of this session
extern SiteTable sites;
extern InForce in_force;  // for stats frames
extern Core core_states[max_cores];
extern CoreMemory core_memory[max_cores];

// Indexed by core number; includes cores that do not record.
inline std::span<Core> all_cores() { return core_states; }
extern std::uint32_t joined_cores;  // a bit for each
void set_joined(unsigned core);
// Returns what tells the running task from all others, not 0. In an interrupt, the interrupted one.
std::uintptr_t running_task();
// Calls Config::while_waiting. Each loop of the tracer that waits calls it.
void while_waiting();
// Keeps Config::panic and Config::Input::interrupted_pc.
void open_cores(const Config& config);
void set_interrupt_depth(Core& core, const volatile std::uint32_t* depth);  // null: not known
// How many interrupts this core is in; unknown_depth if the firmware does not tell.
inline constexpr unsigned unknown_depth = ~0u;
unsigned interrupt_depth_of(const Core& core);
// The pc at which this core's thread context was interrupted; 0: not known.
std::uint64_t interrupted_pc();
[[noreturn]] void panic(const char* message);

}  // namespace nopscope
