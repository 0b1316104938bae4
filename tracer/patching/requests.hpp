// SPDX-License-Identifier: Apache-2.0
// The requests that change what the sites do, for adaptive mode, the control channel and init().
#pragma once

#include "nopscope/nopscope.hpp"
#include "tracer/core/steps.hpp"

#include <span>

namespace nopscope {

// Prepares the site table and the sites' text, and sets their counters. Boot core, once.
void prepare_sites(Counters& counters);
// Opens the name table, if it belongs to the site table that hello describes.
void open_names();

// Runs request(user) if a request may be made here and now. It may make requests as thread context
// may (enable(), attach() ...). Its time counts as the tracer's. False: it has not run, and the
// next pump may try again. Call it where pump() may be called, but without the pump's lock.
bool try_request(void (*request)(void* user), void* user);

// Like enable(), but leaves out the functions of `except`.
Status set_recorder(Recorder recorder, const Sites& which, std::span<const void* const> except);
// The recorder that was set last, other than none. graph: none was set yet.
Recorder recorder_set_last();
// Call after each change of the recorders, so that stats frames name the recorders in force.
void note_recorders();
std::uint32_t enabled_sites();
// Does count_events() in steps. partly(): no events are counted any more.
Steps count_in_steps(std::span<const std::uint16_t> numbers);
// Makes the profile's cells, so that any call may go there. Call within a request or in init().
Status prepare_profile();

// ---- adaptive mode, which sets recorders without a user's request ----

// Like enable() for these functions. Call within a request.
Status move_to(Recorder recorder, std::span<const void* const> functions);
// What requests ask adaptive mode, and tell it. Each is called within a request.
struct Adaptation {
    bool (*is_active)();
    // How many functions it has moved from the graph recorder to the profile.
    std::uint32_t (*moved)();
    // A request has chosen a recorder for these sites.
    void (*forget)(std::uint32_t first, std::uint32_t last);
};
// Call in init(), before anything is traced.
void set_adaptation(const Adaptation& adaptation);

}  // namespace nopscope
