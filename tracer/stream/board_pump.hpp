// SPDX-License-Identifier: Apache-2.0
// The board's pump for other rooms. runtime/tracer.cpp defines these functions. Any context.
#pragma once

#include "tracer/core/ring.hpp"

namespace nopscope {

// Makes all records so far due, without waiting for a whole frame. Not in flight mode.
void send_soon();
// The same, and also in flight mode.
void send_snapshot();
void send_hello_soon();
void send_stats_soon();

// Runs work(user) and charges its time to the tracer.
void charge_to_tracer(void (*work)(void* user), void* user);
// When all bytes have left: runs `use`, which returns the new pace, bytes a second. False: not now.
bool with_quiet_line(std::uint32_t (*use)(void*), void* user);
// Bytes of payload in trace frames so far.
std::uint64_t trace_bytes_sent();

// In lossless mode, if the ring is full: waits for room (Pump::make_room). `before`: how many
// instructions the recorder had executed when its work `began`. False: it cannot wait here.
extern "C" bool nopscope_wait_for_room(const Core* began_on, std::uint64_t sp, Moment began,
                                       std::uint32_t before);

}  // namespace nopscope
