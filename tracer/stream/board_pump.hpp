// SPDX-License-Identifier: Apache-2.0
// What the other rooms ask of the board's pump. runtime/tracer.cpp, which makes the pump of its parts, defines it.
// Any context, if nothing else is said.
#pragma once

#include "tracer/core/ring.hpp"

namespace nopscope {

// What has been recorded so far is due, in whole frames or not.
void send_soon();
// The same in flight mode, too.
void send_snapshot();
void send_hello_soon();
void send_stats_soon();

// work(user), whose time is the tracer's own.
void run_as_tracers(void (*work)(void* user), void* user);
// Runs `use`, which returns the line's new pace in bytes a second, after everything has left. False: not now.
bool with_quiet_line(std::uint32_t (*use)(void*), void* user);
// Payload of trace frames so far.
std::uint64_t trace_bytes_sent();

// In lossless mode, where the ring is full: waits until there is room in it. The recorder began then, and had run so many
// instructions before. False: it cannot be waited for here.
extern "C" bool nopscope_wait_for_room(Core*, std::uint64_t sp, Moment began, std::uint32_t before);

}  // namespace nopscope
