// SPDX-License-Identifier: Apache-2.0
// What the files of the board's tracer share of its one instance (tracer.cpp).
#pragma once

#include "tracer/core.hpp"
#include "tracer/nopscope.hpp"
#include "tracer/replies.hpp"

#include <span>

namespace nopscope {

// By number, those that do not record, too.
std::span<Core> all_cores();
// This core; null until it records: after init() or join().
Core* joined_core();
// No context is in a subtree that is traced below (filters.cpp).
void forget_subtree_of_contexts();
// What has been recorded so far is due, in whole frames or not.
void send_soon();
// The same in flight mode, too.
void send_snapshot();
[[noreturn]] void panic(const char* message);

// ---- requests from a pump (requests.hpp) ------------------------------------------------------------

// Runs request(user), which may make requests as thread context may (enable(), attach() ...), if that may be done here and now; its time is the tracer's
// own. False: it has not run; the next pump may try again. Any context from which pump() may be called,
// without the pump's lock.
bool try_request(void (*request)(void* user), void* user);
// Other than none; graph if there was none.
Recorder recorder_set_last();

// ---- control.cpp and the rest of the tracer ---------------------------------------------------------

extern Replies command_replies;
void open_control(const Config& config, std::uint16_t session, std::uint64_t clock_hz);
// In pump(), without its lock.
void poll_commands();
// Config::input's, or 0.
std::uint64_t interrupted_pc();
void send_hello_soon();
void send_stats_soon();
// Runs `use`, which returns the line's new pace, while everything has left; false: not now.
bool with_quiet_line(std::uint32_t (*use)(void*), void* user);

}  // namespace nopscope

// Unwinds to an open call with this SP, or panics. Returns the top; the frame below it is the call's.
extern "C" std::uint64_t nopscope_unwind_at_return(nopscope::Core* here, std::uint64_t sp);
