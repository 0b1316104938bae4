// SPDX-License-Identifier: Apache-2.0
// What the files of the board's tracer share of its one instance (tracer.cpp).
#pragma once

#include "tracer/core/core.hpp"
#include "nopscope/events.hpp"
#include "tracer/core/in_force.hpp"
#include "tracer/adaptive/moved_sites.hpp"
#include "nopscope/nopscope.hpp"
#include "tracer/recorders/profile.hpp"
#include "tracer/stream/replies.hpp"
#include "tracer/core/site_table.hpp"
#include "tracer/core/steps.hpp"
#include "tracer/protocol/hello.hpp"

#include <span>

namespace nopscope {

struct Moment;  // ring.hpp
struct ReturnOps;

extern bool initialised;    // init() was, and was ok
extern wire::Hello hello;  // of this session

// ---- tracer.cpp -------------------------------------------------------------------------------------

// What stats frames say of it. Defined in recording.cpp.
extern InForce in_force;

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
// Interrupts that this core is in, or unknown_depth (requests.hpp).
unsigned interrupt_depth_of(const Core& core);
// work(user), whose time is the tracer's own.
void run_as_tracers(void (*work)(void* user), void* user);
// In no open call of no core is an exit of this ops left.
void forget_ops_of_calls(ReturnOps& ops);
// These frames', and those of all contexts that do not run: their open calls forget the ops, and its exit is not called.
void forget_ops(std::span<ShadowFrame> frames, ReturnOps& ops);
void forget_ops_of_contexts(ReturnOps& ops);

// ---- requests.cpp -----------------------------------------------------------------------------------

extern SiteTable sites;
// Boot core, once: the table, and the text. Adds what was found to the counters.
void prepare_sites(Counters& counters);
// The name table, if it is that of hello's site table.
void open_names();
// enable(), but for the functions of `except`.
Status set_recorder(Recorder recorder, const Sites& which, std::span<const void* const> except);
std::uint32_t enabled_sites();
// Call after each change of the recorders: stats frames then say which are in force.
void note_recorders();

// ---- requests from a pump (requests.hpp) ------------------------------------------------------------

// Runs request(user), which may make requests as thread context may (enable(), attach() ...), if that may
// be done here and now; its time is the tracer's own. False: it has not run; the next pump may try again.
// Any context from which pump() may be called, without the pump's lock.
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
// Number of the first read-out of the profile that begins after this; 0: no profile is kept.
std::uint64_t next_read_out();
// Runs `use`, which returns the line's new pace, while everything has left; false: not now.
bool with_quiet_line(std::uint32_t (*use)(void*), void* user);

// ---- interrupts.cpp and the rest of the tracer ------------------------------------------------------

// interrupt_begin(), called from `where`.
std::uint64_t interrupt_begin_at(std::uint32_t number, std::uint64_t where);

// ---- capture.cpp and the rest of the tracer ---------------------------------------------------------

// capture_arguments(), unless `mask` is 0, then capture_result(), if `result` says so.
Steps change_captures(const Sites& sites, std::uint8_t mask, bool result);
// capture_nothing().
Steps end_captures(const Sites& sites);

// ---- events.cpp and the rest of the tracer ----------------------------------------------------------

EventSet events_chosen();
// count_events(). Partly: none are counted any more.
Steps count_in_steps(std::span<const std::uint16_t> numbers);
// Whether each core that has joined can count them. Within a request, as the next.
Status check_events(std::span<const std::uint16_t> numbers);
Status refuse_events(wire::EventRefusal why);
// On all cores, in their rings and counters. None: nothing is counted. False: a core did not come within a second.
bool choose_events(std::span<const std::uint16_t> numbers);
// On a core that has just joined.
void count_events_here();

// ---- adaptive.cpp and the rest of the tracer --------------------------------------------------------

extern MovedSites moved_sites;
extern ProfileMemory profile_memory;
// In init(), before anything is traced.
void open_adaptive(const Config& config);
// From the next pump that may make a request on, or no more. Any context.
void want_adaptive(bool on);
// It is, or is about to be, or something is still moved.
bool is_adaptive();
// In pump(), without its lock.
void adapt();
// On core `number`, at a call of the function with this low half of its address. Any context.
void note_overflow(Core& core, unsigned number, std::uint64_t sp, std::uint32_t site);

// Of the functions, within a request: as enable(), but nobody's wish.
Status move_to(Recorder recorder, std::span<const void* const> functions);
// The profile's cells, so that any call may go there. Within a request, or in init().
Status prepare_profile();
// On all cores.
std::uint64_t profiled_calls(std::uint32_t index);
// Payload of trace frames so far.
std::uint64_t trace_bytes_sent();
// The pace that the pump keeps; 0: none.
std::uint32_t line_bytes_a_second();
void send_moved_from_now_on();
// The profile's next read-outs have what was added up of these.
void send_profile_events(EventSet set);

}  // namespace nopscope

// Unwinds to an open call with this SP, for `hook` of a recorder that found out at `began`, after
// `before` of its instructions. Returns the top; the frame below it is the call's. If no open call
// has this SP: returns the call's return address plus stray_return (strays.hpp), or panics.
extern "C" std::uint64_t nopscope_unwind_at_return(nopscope::Core* here, std::uint64_t sp, nopscope::Moment began,
                                                   std::uint32_t before, std::uint64_t hook);
