// SPDX-License-Identifier: Apache-2.0
// The board's cores, and what init() found out about the board. An image has one tracer: there is one of each.
#pragma once

#include "nopscope/nopscope.hpp"
#include "tracer/core/core.hpp"
#include "tracer/core/in_force.hpp"
#include "tracer/core/site_table.hpp"
#include "tracer/core/strays.hpp"
#include "tracer/protocol/hello.hpp"

#include <span>

namespace nopscope {

// What the linker script puts into .nopscope.ring.
struct CoreMemory {
    alignas(64) std::uint64_t ring[ring_bytes / sizeof(std::uint64_t)];
    alignas(64) ShadowFrame shadow[shadow_frames + 1];
    Grave graves[max_graves];
};

extern bool initialised;   // init() was called, and returned Status::ok
extern protocol::Hello hello;  // of this session
extern SiteTable sites;
extern InForce in_force;  // for stats frames
extern Core core_states[max_cores];
extern CoreMemory core_memory[max_cores];

// By number. Those that do not record are there, too.
inline std::span<Core> all_cores() { return core_states; }
Core& this_core();
bool has_joined(unsigned core);
void set_joined(unsigned core);
// This core; null before its init() or join().
Core* joined_core();

// From Config: how this board tells its interrupts, and what it does in a panic.
void open_cores(const Config& config);
void set_interrupt_depth(Core& core, const volatile std::uint32_t* depth);  // null: it is not known
// Interrupts that this core is in; unknown_depth where the firmware does not say.
inline constexpr unsigned unknown_depth = ~0u;
unsigned interrupt_depth_of(const Core& core);
// Where this core's thread context was interrupted; 0: not known.
std::uint64_t interrupted_pc();
[[noreturn]] void panic(const char* message);

}  // namespace nopscope
