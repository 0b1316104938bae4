// SPDX-License-Identifier: Apache-2.0
// The requests that change what the sites do, for the rooms above: adaptive mode, the control
// channel, init().
#pragma once

#include "nopscope/nopscope.hpp"
#include "tracer/core/steps.hpp"

#include <span>

namespace nopscope {

// Boot core, once: the table, and the text. Adds what was found to the counters.
void prepare_sites(Counters& counters);
// The name table, if it is that of hello's site table.
void open_names();

// Runs request(user), which may make requests as thread context may (enable(), attach() ...), if
// that may be done here and now; its time is the tracer's own. False: it has not run; the next pump
// may try again. Any context from which pump() may be called, without the pump's lock.
bool try_request(void (*request)(void* user), void* user);

// enable(), but for the functions of `except`.
Status set_recorder(Recorder recorder, const Sites& which, std::span<const void* const> except);
// Other than none; graph if there was none.
Recorder recorder_set_last();
// Call after each change of the recorders: stats frames then say which are in force.
void note_recorders();
std::uint32_t enabled_sites();
// count_events(). Partly: none are counted any more.
Steps count_in_steps(std::span<const std::uint16_t> numbers);
// The profile's cells, so that any call may go there. Within a request, or in init().
Status prepare_profile();

// ---- adaptive mode, which sets recorders that nobody asked for ----

// enable() for these functions, within a request.
Status move_to(Recorder recorder, std::span<const void* const> functions);
// What requests must know of it. Each is called within a request.
struct Adaptation {
    bool (*is_active)();
    std::uint32_t (*moved)();  // functions that the profile has, and the graph recorder had
    void (*forget)(std::uint32_t first,
                   std::uint32_t last);  // a request chose a recorder for these sites
};
// In init(), before anything is traced.
void set_adaptation(const Adaptation& adaptation);

}  // namespace nopscope
