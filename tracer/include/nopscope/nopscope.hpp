// SPDX-License-Identifier: Apache-2.0
// nopscope: the tracer's public header. The whole of what a firmware needs:
//
//     nopscope::init({.image = "blinky", .output = {uart_try_write, uart_drain}, ...,
//                     .recorder = nopscope::Recorder::graph});
//     for (;;) { work(); nopscope::pump(); }
//
// The firmware is built with nopscope_instrument(TARGET), runs with the MMU and the data cache on,
// and calls init() once, on the boot core, before any other core runs instrumented code.
#pragma once

#include "nopscope/enabled.h"
#include "nopscope/machine.h"
#include "nopscope/ops.hpp"
#include "nopscope/version.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

// A function that must never have a patch site: what runs before init(), or on the tracer's path.
#define NOPSCOPE_NOTRACE __attribute__((patchable_function_entry(0, 0)))

namespace nopscope {

enum class [[nodiscard]] Status : std::uint8_t {
    ok,
    mmu_or_cache_off,   // exclusives and 8-byte stores to text need Normal cacheable memory
    no_sites,           // nothing in the image was built with patch sites
    already_initialised,
    not_initialised,
    unknown_function,   // an address that is no patch site, or a refused one, or a name that no site
                        // has; nothing was changed
    no_names,           // the image has no name table, or one of another image; nothing was changed
    unexpected_text,    // a word was not what it had to be; nothing was changed, see last_error()
    out_of_reach,       // a recorder is more than 128 MiB from a site; nothing was changed
    too_many,           // ops on one function, or different sets of them; nothing was changed
    conflict,           // two direct entries on one function, or a redirecting ops beside another
    timeout,            // a core did not leave the tracer's code in time, see detach(); or it took no
                        // inter-processor call, so it may still execute the old words
    no_profile_memory,  // Config::profile_memory is smaller than profile_bytes(), or not there
    bad_config,
    wrong_level,        // init() runs at another exception level than EL1
    wrong_memory,       // the rings or the profile's memory are not Normal write-back inner shareable
    text_not_writable,  // neither text itself nor its alias is
    cores_running,      // other cores are on already: they may run what init() is about to write
    events_refused,     // what is asked for cannot count the PMU's events (events.hpp); nothing was changed
    ring_too_small,     // no room for the returns of all contexts' calls (contexts.hpp); nothing was changed
};
// One sentence, static storage.
const char* describe(Status status);
// What was asked for is so; with timeout, a core may not have seen it yet.
constexpr bool carried_out(Status status) { return status == Status::ok || status == Status::timeout; }

enum class Recorder : std::uint8_t {
    none,
    function,  // one record at each entry
    graph,     // one at entry, one at return
    profile,   // no record: each function's calls, times and histogram, added up on the target
    duration,  // one at return, of a call that took set_min_duration() or longer
    sampled,   // graph's, of every n-th call on a core: set_sample()
};

enum class Mode : std::uint8_t {
    stream,    // a full ring drops new records, and counts them
    lossless,  // a full ring makes the producer run the pump until there is room
    flight,    // a new record takes the place of the oldest; sent at snapshot() (triggers.hpp), when
               // the exception reporter asks (enter_panic), by finish(), and after a warm reset
    // Functions that the line cannot carry move from graph to the profile recorder by themselves, the
    // hottest first, and back; and a call of graph's that finds the ring full is the profile's. Nothing is
    // dropped but the function and the duration recorder's. Needs Config::profile_memory.
    adaptive,
};

class SiteBits;

// Which sites a request is about: by index, by address ({main, luaV_execute}), or by name.
struct Sites {
    static constexpr Sites all() { return {}; }
    static constexpr Sites range(std::uint32_t first, std::uint32_t count) {
        return {.first = first, .count = count};
    }
    static constexpr Sites of(std::span<const void* const> functions) {
        return {.functions = functions, .listed = true};
    }
    // By linkage name, as `nm` shows it; `*` stands for any characters, `?` for one. Only in an image
    // with a name table (nopscope_name_table(TARGET), docs/porting.md). A request then
    // matches each site's name, which takes several times as long as patching it. `glob` is read until it has returned.
    static constexpr Sites named(const char* glob) { return {.pattern = glob}; }
    // Those that the host has selected (site_bits.hpp).
    static constexpr Sites chosen(const SiteBits& chosen) { return {.bits = &chosen}; }
    // These, less those of `less`, which must outlive the request (a temporary in its call does) and
    // be less of nothing itself.
    constexpr Sites without(const Sites& less) const {
        Sites rest = *this;
        rest.notrace = &less;
        return rest;
    }
    std::uint32_t first = 0;             // index by ascending address
    std::uint32_t count = ~std::uint32_t{0};  // clipped to the table's end
    std::span<const void* const> functions = {};
    bool listed = false;                 // `functions` instead of the range
    const char* pattern = nullptr;       // of these, only what it matches
    const Sites* notrace = nullptr;
    const SiteBits* bits = nullptr;      // of these, only the ones that it has
};

struct Config {
    const char* image = "";  // the firmware's name, shown by the host; at most 255 bytes
    const char* board = "";
    std::uint64_t clock_hz = 0;  // of CNTVCT_EL0, whatever clock the image records (NOPSCOPE_CLOCK)
    unsigned cores = 1;          // that will ever record: core 0 and those that call join()
    // How text is written and other cores are reached, in a library that is built for it. Copied.
    const nopscope_machine* machine = nullptr;

    // The line. try_write takes one byte or returns false at once when the transmitter is full;
    // drain waits until the last byte has left. Called with the pump's lock held, never from two
    // contexts at once, except by panic.
    struct Output {
        bool (*try_write)(std::uint8_t byte) = nullptr;
        void (*drain)() = nullptr;
    } output = {};
    // What the pump paces itself to by the clock, on every line, real or emulated: baud / 10.
    // 0: as fast as try_write takes bytes.
    std::uint32_t line_bytes_per_second = 0;

    // Commands from the host over the same line (docs/control.md), which pump() executes. All may be
    // null: then nothing is read, or the commands that need it are refused.
    struct Input {
        // One byte that has come, or false at once. Called by pump(), never from two contexts at once.
        // What comes between two pumps must be buffered: 256 bytes hold any command.
        bool (*try_read)(std::uint8_t& byte) = nullptr;
        // Where this core's thread context was interrupted; called in an interrupt. Without it (and
        // `interrupt_depth`) a pump in an interrupt cannot change what is traced once the profile
        // recorder has been used, or a recorder lies more than 128 MiB from a site.
        std::uint64_t (*interrupted_pc)() = nullptr;
        std::uint32_t baud = 0;  // of the line now
        // Sets the line's rate, both ways; everything has been sent. False: it cannot. `only_ask`:
        // changes nothing, and says whether it could.
        bool (*set_baud)(std::uint32_t baud, bool only_ask) = nullptr;
        void (*reset)() = nullptr;  // resets the machine; does not return
    } input = {};

    // SP outside these bounds is not hooked, and counted: [low, high).
    std::uint64_t stack_low = 0;
    std::uint64_t stack_high = ~std::uint64_t{0};

    Mode mode = Mode::stream;
    // Enabled before init() returns: the compiled-in filter. `except` is taken out of `trace`.
    Recorder recorder = Recorder::none;
    Sites trace = Sites::all();
    std::span<const void* const> except = {};

    // What the profile recorder adds up in: profile_bytes(cores) or more, static storage, Normal
    // write-back memory. Cleared when that recorder is first enabled.
    std::span<std::byte> profile_memory = {};
    std::uint32_t profile_period_ms = 0;  // from one read-out's end to the next; 0: only on request

    // Measure what recording a call costs, for the host to take off: 290,000 instructions more in init().
    bool calibrate = true;

    // Keep what is recorded for the boot after a warm reset (tracer/stream/warm_reset.hpp). Each pump then writes the rings'
    // new lines from the caches to memory. False where a reset loses the memory's contents: the pump writes none, and
    // init() sends nothing of the session before.
    bool keep_over_reset = true;

    // The address of core n's count of exceptions below the running code: 0 in thread context. It
    // tells an interrupt during a callback from a callback's own recursion. Null: the two look the
    // same, and interrupts during callbacks are not seen by callbacks.
    const volatile std::uint32_t* (*interrupt_depth)(unsigned core) = nullptr;

    // Called when the tracer finds its own state impossible (a return that no open call matches):
    // prints and stops the machine. Null: a BRK exception.
    void (*panic)(const char* message) = nullptr;
};

// Turns every patch site into its idle form (docs/how-it-works.md), sets up the ring, sends hello,
// and enables what `config` says. Once, boot core, thread context. On an error the image runs
// untraced. Some 50 instructions a site (docs/bench.md).
Status init(const Config& config);

// Change what the sites record, at run time. All or nothing: on an error no word has changed.
// Thread context, interrupts may be on, traced functions may be running. Any core: requests, those of
// the host in a pump too, wait for each other. A site has one recorder;
// enabling another replaces it. Some 60 instructions a site, 75 where caches need maintenance.
Status enable(Recorder recorder, const Sites& sites);
Status disable(const Sites& sites);

// A core other than the boot core, on that core, before it runs instrumented code; SP bounds as in
// Config.
Status join(std::uint64_t stack_low, std::uint64_t stack_high);

// ---- ops of your own (tracer/include/nopscope/ops.hpp) ---------------------------------------------------------------
//
// All three: thread context of any core, interrupts on; other cores may be running traced code. All or
// nothing. Never from a callback.

// Adds `ops` to the sites' sets. Attaching twice is once.
Status attach(Ops& ops, const Sites& sites);
// Takes it out, and returns when no core can be in its callback any more. Status::timeout: it has
// been taken out, but a core was still in the tracer's code after a second; call detach() again
// before the ops goes away. A ReturnOps that traces nothing any more has no exit called after this,
// either, though calls that it hooked may be open.
Status detach(Ops& ops, const Sites& sites = Sites::all());
// Makes `sites` the ops' whole set: attaches what is missing, then detaches the rest, after a timeout
// of the first, too.
Status set_filter(Ops& ops, const Sites& sites);
// Returns when every core has been seen outside the tracer's trampolines and callbacks, at exception
// depth 0. False: not within a second.
bool synchronize();

// Sites by index, ascending; a refused site has an address too.
std::uint32_t site_count();
struct SiteInfo {
    std::uint64_t address;
    bool usable;
};
SiteInfo site(std::uint32_t index);
// The index of the function that starts at `address`, if it is a usable site.
std::optional<std::uint32_t> lookup(std::uint64_t address);
// Copies the name of a site and a terminator, cut to `room`; returns the whole name's length, at most
// 255. 0: unknown, or no name table.
std::size_t site_name(std::uint32_t index, char* to, std::size_t room);
// visit(index, site) for each, refused ones too.
template <typename Visit>
void for_each_site(Visit visit) {
    for (std::uint32_t i = 0; i < site_count(); ++i) visit(i, site(i));
}
// visit(ops, user) for each ops of a site, the tracer's own too, in the order of attachment. Thread
// context of the core that makes the requests; `visit` makes none.
void for_each_ops(std::uint32_t index, void (*visit)(Ops& ops, void* user), void* user = nullptr);

// ---- recording --------------------------------------------------------------------------------------

// Stops and starts recording without patching: attached sites skip the ring. Calls already
// recorded still record their return. Any context.
void stop();
void start();

// Changes the mode: what adaptive mode has moved comes back; what the rings hold is sent in the new one, if
// not in flight mode. At once, or when the pump that is running has finished its frame. Any context.
// bad_config: no such mode.
Status set_mode(Mode mode);

// ---- filters: what recorders leave out --------------------------------------------------------------
//
// Any context, at any time, also while they run. Calls left out are counted: Counters::filtered.

// Of the duration recorder, on all cores: calls shorter than that make no record. At first 0.
void set_min_duration(std::uint64_t ticks);
// Graph, sampled and duration do not see calls that would be more than `calls` deep: those with as many
// hooked calls open below them, in their context. An interrupt's lie on top of what it interrupted; a
// function with a ReturnOps counts twice. At first 0: as deep as the shadow stack is.
void set_max_depth(std::uint32_t calls);
// Of the sampled recorder: every n-th call of each core, from the next one on. At first 1.
void set_sample(std::uint32_t n);

// From here on a core records only while a call of one of these functions is open in the context that
// it runs; that call is in the recording. Those that are open now do not count. Recording goes on
// elsewhere as soon as trace_everywhere() has been called. As enable(), and instead of the last such
// request. timeout: as detach().
Status trace_only_below(const Sites& sites);
Status trace_everywhere();

// Does what the host has asked for; a change of what is traced waits for a pump that finds no callback, and
// nothing else that would be in its way, below it. Then moves records from the rings to the line, within what the
// line's pace allows now (if it has one for some 10 ms at most) and no more than what the rings held when it
// began; returns at once when there is nothing to do, or when a pump is already running below. Any context: an
// idle loop, a timer interrupt, or both. Call it at least every quarter wrap of the 32-bit clock (1 s at
// 1 GHz), or recorded times may be ambiguous.
void pump();

// What Config::profile_memory takes for this image: 640 bytes a site with one core, 592 more for each
// other. Before init(), too.
std::size_t profile_bytes(unsigned cores);
// Has the pump send the whole profile, once, as it is when each function's turn comes: some 30 bytes
// for each function that was called, on each core. Calls that are open are not in it. Any context.
void send_profile();
// What is in it about one function on one core, without a host: false before the recorder was first
// enabled. Ticks. Bin 0: calls of no tick; bin n: of 2^(n-1) up to 2^n - 1. Thread context of that
// core, or between calls; else a call may be in some fields only.
struct SiteProfile {
    std::uint64_t calls;
    std::uint64_t total;  // entry to return, of each call
    // Without profiled calls and interrupts inside, the overhead of recording these, and the pump.
    // Read it as a signed number: the overhead is a mean, so the self time of a few calls may be
    // below zero.
    std::uint64_t self;
    std::uint64_t min;    // the largest number: no call
    std::uint64_t max;
    std::uint64_t bins[63];
};
bool read_profile(std::uint32_t index, unsigned core, SiteProfile& out);

// Stops recording, sends all that is left, the profile, a last stats frame, and waits for the line.
// Thread context.
void finish();

// To be called before the firmware resets the machine by itself: stops recording, and cleans what the rings
// hold, up to now, out of the caches. The next boot's init() sends it, before anything else and waiting
// for the line, as the session that it was. Without this call it sends what had been cleaned by some
// pump(). A cold boot has nothing to send. Thread context.
void prepare_reset();

// The console as one of the line's streams. Any context; waits for the line when its buffer is
// full, except inside the pump or an interrupt that stopped it, where the bytes are dropped and
// counted.
void console_write(const char* bytes, std::size_t count);
// From here on console_write frames and sends at once, by polling, with nothing else running: for an
// exception reporter. What is left in the ring is sent first.
void enter_panic();

// ---- for backtraces ---------------------------------------------------------------------------------
//
// Of the context that asks, on its core. Any context, also an exception reporter's.

// A return address that is not the caller's but one of the tracer's hooks.
bool is_return_hook(std::uint64_t address);
// What stands behind it, for the innermost open hooked call whose SP at its entry lay in [low, high];
// 0: there is none. Of a frame record at address r: (r + 1, ~0). Of x30 in a function that has no
// record, SP p and x29 r: (p, r).
std::uint64_t hooked_return_address_of(std::uint64_t low, std::uint64_t high);
// The same by number: the depth-th open hooked call's, innermost first.
std::uint64_t hooked_return_address(unsigned depth);
// At this pc x9 is the return address of the traced function whose body x30 points to: the tracer was
// entered, and the function not yet. x29 is the caller's.
bool is_entry_code(std::uint64_t pc);

// What boot initialisation and the recorders met, since init().
struct Counters {
    std::uint32_t sites;       // usable
    std::uint32_t refused_misaligned;  // not 8-byte aligned
    std::uint32_t refused_outside;     // not in text
    std::uint32_t refused_words;       // the words there are no patch site
    std::uint32_t duplicates;          // empty or repeated table entries, dropped
    std::uint32_t enabled;     // sites whose word is a BL now
    // Of the session before a warm reset: what was sent, and what was left out since it made no sense.
    std::uint64_t reset_records;
    std::uint64_t reset_refused;
    std::uint32_t reset_headers_refused;  // 1: another image's, or its CRC was wrong: all was left out
    std::uint64_t generated;   // records claimed, plus dropped, plus filtered
    std::uint64_t dropped;
    std::uint64_t overflowed;  // calls that found the ring full in adaptive mode; they are in the profile
    std::uint64_t filtered;    // calls that a filter kept from making any record
    std::uint64_t unhooked;    // calls whose return is not seen: the shadow stack was full
    std::uint64_t foreign;     // calls whose return is not seen: SP outside the bounds
    std::uint64_t recursions;  // callbacks not made: this context was in one
    std::uint64_t stray_returns;  // hooked calls that returned in another context, unrecorded
};
Counters counters();

// The site whose word or slot was not as expected, after Status::unexpected_text.
struct LastError {
    std::uint64_t address;
    std::uint32_t found;
    std::uint32_t expected;
};
LastError last_error();

}  // namespace nopscope

#include "nopscope/empty.hpp"  // the bodies, in a build without the tracer
