// SPDX-License-Identifier: Apache-2.0
/// \file
/// The tracer's main header: set-up, what is traced, recording, filters, the console.
///
///     nopscope::init({.image = "blinky", .clock_hz = counter_hz(),
///                     .output = {uart_try_write, uart_drain},
///                     .recorder = nopscope::Recorder::graph});
///     for (;;) { work(); nopscope::pump(); }
///
/// Build the firmware with `nopscope_instrument(TARGET)`. It must run at EL1 with the MMU and the
/// data cache on, or in RISC-V's M-mode. Call init() once, on the boot core, before any other core
/// runs instrumented code.
///
/// Each function says where you may call it. *Thread context* is code outside of exception handlers
/// and callbacks. *Any context* includes both.
#pragma once

#include "nopscope/enabled.h"
#include "nopscope/machine.h"
#include "nopscope/ops.hpp"
#include "nopscope/recorders.hpp"
#include "nopscope/version.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

/// The tracer's C++ API.
namespace nopscope {

/// The result of a request. describe() turns it into a sentence.
enum class [[nodiscard]] Status : std::uint8_t{
    ok,  ///< The request was carried out.
    /// The MMU or the data cache is off. Exclusives and coherent text need both.
    mmu_or_cache_off,
    no_sites,             ///< Nothing in the image was built with patch sites.
    already_initialised,  ///< init() has been called, or this core has joined.
    not_initialised,      ///< init() has not been called, or this core has not joined.
    /// A function of the request has no usable patch site, or no site has such a name. Nothing was
    /// changed.
    unknown_function,
    /// The image has no name table, or its table belongs to another image. Nothing was changed.
    no_names,
    unexpected_text,  ///< A word was not as expected: see last_error(). Nothing was changed.
    out_of_reach,     ///< A recorder is more than 128 MiB from a site. Nothing was changed.
    /// Too many ops on one function, or too many different sets of ops. Nothing was changed.
    too_many,
    /// One function would have two ops with a direct entry or a redirect. Nothing was changed.
    conflict,
    /// Carried out, but a core did not leave the tracer's code within a second (see detach()), or
    /// did not answer an inter-processor call: it may still execute the old words.
    timeout,
    no_profile_memory,  ///< Config::profile_memory is absent or smaller than profile_bytes().
    bad_config,         ///< An argument or a field of Config is out of range.
    wrong_level,        ///< init() was not called at EL1 (RISC-V: in M-mode).
    /// The rings or the profile's memory are not Normal write-back inner shareable, or the tracer's
    /// register has no room for the address of its .bss (NOPSCOPE_TPIDR=contextidr).
    wrong_memory,
    text_not_writable,  ///< Neither the text itself nor its alias is writable.
    cores_running,      ///< Other cores are on. They may run the words that init() writes.
    /// The PMU's events cannot be counted: see events_refusal(). Nothing was changed.
    events_refused,
    /// The ring has no room for the returns of all contexts' calls (contexts.hpp). Nothing was
    /// changed.
    ring_too_small,
    /// This core's IRQ vector does not begin with nopscope_defer (nopscope/defer.h), although the
    /// tracer was built with NOPSCOPE_DEFER_INTERRUPTS.
    not_deferred,
};
/// Returns one sentence about a status, in static storage. Any context.
const char* describe(Status status);
/// True if the request was carried out: Status::ok, or Status::timeout, where one core may not have
/// seen it yet.
constexpr bool carried_out(Status status) {
    return status == Status::ok || status == Status::timeout;
}

class SiteBits;

/// Selects the patch sites of a request: by index, by address, or by name.
///
///     nopscope::enable(nopscope::Recorder::graph, nopscope::Sites::named("luaV_*"));
struct Sites {
    /// All sites.
    static constexpr Sites all() { return {}; }
    /// `count` sites from index `first` on. Indexes follow ascending addresses.
    static constexpr Sites range(std::uint32_t first, std::uint32_t count) {
        return {.first = first, .count = count};
    }
    /// The sites of these functions. The list must outlive the request.
    static constexpr Sites of(std::span<const void* const> functions) {
        return {.functions = functions, .listed = true};
    }
    /// The sites with a linkage name, as `nm` shows it, that matches a pattern. An alias is a name,
    /// too, and so is `f` of a compiler's clone `f.isra.0`. `*` stands for any characters, `?` for
    /// one. The image needs a name table (`nopscope_name_table(TARGET)`), else
    /// the request returns Status::no_names. Matching takes several times as long as patching. The
    /// pattern must outlive the request.
    static constexpr Sites named(const char* glob) { return {.pattern = glob}; }
    /// The sites that the host has selected by commands. Only the tracer uses it.
    static constexpr Sites chosen(const SiteBits& chosen) { return {.bits = &chosen}; }
    /// These sites without those of `less`. `less` must outlive the request (a temporary in the
    /// request's call does) and must not be the result of without() itself.
    constexpr Sites without(const Sites& less) const {
        Sites rest = *this;
        rest.notrace = &less;
        return rest;
    }
    std::uint32_t first = 0;  ///< The range's first index.
    /// The range's size. The range ends at the table's end at the latest.
    std::uint32_t count = ~std::uint32_t{0};
    std::span<const void* const> functions = {};  ///< The list of of().
    bool listed = false;                          ///< True: `functions` replaces the range.
    const char* pattern = nullptr;   ///< If not null: only sites whose name matches it.
    const Sites* notrace = nullptr;  ///< If not null: without these sites.
    const SiteBits* bits = nullptr;  ///< If not null: only sites that this set contains.
};

/// What init() needs to know. `clock_hz` and `output.try_write` are required.
struct Config {
    /// The firmware's name, which the host shows. At most 255 bytes; init() keeps the pointer.
    const char* image = "";
    const char* board = "";  ///< The board's name, as `image`.
    /// Rate of CNTVCT_EL0 in Hz, even if records hold another clock (NOPSCOPE_CLOCK).
    std::uint64_t clock_hz = 0;
    /// How many cores will ever record: core 0 and those that call join(). At most the library's
    /// NOPSCOPE_CORES.
    unsigned cores = 1;
    /// How the tracer writes text and calls other cores. Only a library that was built with
    /// NOPSCOPE_MACHINE=given reads it. init() copies it.
    const nopscope_machine* machine = nullptr;

    /// The line to the host. The tracer holds the pump's lock during both calls, so they never run
    /// in two contexts at once, except in a panic.
    struct Output {
        /// Sends one byte. Returns false at once if the transmitter is full.
        bool (*try_write)(std::uint8_t byte) = nullptr;
        /// Waits until the last byte has left. Null: the tracer does not wait.
        void (*drain)() = nullptr;
    } output = {};  ///< The line to the host.
    /// The line's pace in bytes per second: baud / 10. The pump keeps this pace by the clock, even
    /// on an emulated line. 0: as fast as `try_write` takes bytes.
    std::uint32_t line_bytes_per_second = 0;

    /// Commands from the host over the same line (docs/control.md). pump() executes them. All may
    /// be null: the tracer then reads nothing, or refuses the commands that need the missing one.
    struct Input {
        /// Takes one received byte. Returns false at once when there is none. pump() calls it,
        /// never in two contexts at once. The firmware must buffer what arrives between two pumps:
        /// 256 bytes hold any command.
        bool (*try_read)(std::uint8_t& byte) = nullptr;
        /// Returns the pc at which an interrupt stopped this core's thread context. Called in an
        /// interrupt. Without it and `interrupt_depth`, a pump in an interrupt cannot change what
        /// is traced once the profile recorder has been used, or while a recorder lies more than
        /// 128 MiB from a site.
        std::uint64_t (*interrupted_pc)() = nullptr;
        std::uint32_t baud = 0;  ///< The line's rate now, in baud.
        /// Sets the line's rate in both directions. The tracer calls it when all bytes have left.
        /// `only_ask`: changes nothing. Returns false if the line cannot have this rate.
        bool (*set_baud)(std::uint32_t baud, bool only_ask) = nullptr;
        void (*reset)() = nullptr;  ///< Resets the machine and does not return.
    } input = {};                   ///< Commands from the host.

    /// Bounds of the boot core's stack: [stack_low, stack_high). Recorders do not hook a call whose
    /// SP lies outside and count it as off_stack.
    std::uint64_t stack_low = 0;
    std::uint64_t stack_high = ~std::uint64_t{0};  ///< The end of the stack's bounds.

    Mode mode = Mode::stream;  ///< What happens when a ring is full.
    /// init() enables this recorder on the sites of `trace` without those of `except`.
    Recorder recorder = Recorder::none;
    Sites trace = Sites::all();                ///< The sites for `recorder`.
    std::span<const void* const> except = {};  ///< Functions that `recorder` leaves out.

    /// Memory for the profile recorder's sums: profile_bytes(cores) or more, static storage, Normal
    /// write-back. The tracer clears it when that recorder is first enabled.
    std::span<std::byte> profile_memory = {};
    /// Time between the end of one read-out of the profile and the next, in ms. 0: only on request.
    std::uint32_t profile_period_ms = 0;

    /// Measures the cost of recording a call, so that the host can subtract it. init() then takes
    /// 290,000 instructions more.
    bool calibrate = true;

    /// Keeps the rings for the boot after a warm reset. Each pump then cleans new records from the
    /// caches to memory. Set it to false if a reset loses the memory's contents: the pump then
    /// cleans nothing, and init() sends nothing of the previous session.
    bool keep_over_reset = true;

    /// Returns the address of a core's count of exceptions below the running code: 0 in thread
    /// context. The tracer needs it to tell an interrupt during a callback from a callback's own
    /// recursion. Null: the two look the same, and callbacks do not see the calls of such
    /// interrupts.
    const volatile std::uint32_t* (*interrupt_depth)(unsigned core) = nullptr;

    /// The tracer calls it while it waits. It waits for room in a ring, for the line, for another
    /// core, or for a task that is still in the tracer's code. Between two calls the tracer
    /// executes at most `pump_budget` instructions, and those of a call to another core. The
    /// function may feed a watchdog. If interrupts are on, it may let other tasks run. It must not
    /// be traced. Null: the tracer just waits.
    void (*while_waiting)() = nullptr;
    /// How many instructions the pump may execute with interrupts masked, 5,000 or more. It works
    /// in steps of this length. Between two, interrupts are as pump()'s caller left them: they may
    /// switch tasks, and another task may pump. Two steps are longer: the begin of a snapshot, by
    /// the size of the rings, and the first after no pump has run for 2^31 ticks of the clock.
    std::uint32_t pump_budget = 10'000;

    /// Called when the tracer finds an impossible state (a return that matches no open call). It
    /// must print the message and stop the machine. Null: a BRK exception.
    void (*panic)(const char* message) = nullptr;
};

/// \name Set-up and recorders
/// \{

/// Starts the tracer: puts every patch site into its idle form, sets up the rings, sends hello, and
/// enables Config::recorder. Call it once, in thread context of the boot core. It takes about 50
/// instructions a site.
///
/// A tracer that was built with NOPSCOPE_DEFER_INTERRUPTS looks at this core's IRQ vector: set
/// VBAR_EL1 first.
///
/// On an error the image runs untraced. The errors are Status::already_initialised,
/// Status::wrong_level, Status::mmu_or_cache_off, Status::bad_config, Status::no_sites,
/// Status::wrong_memory, Status::text_not_writable, Status::cores_running, Status::not_deferred and
/// Status::no_profile_memory. If only enabling Config::recorder fails, init() returns the error of
/// enable(), and the tracer runs without that recorder. Status::bad_config has two more causes: the
/// boot core's number is not below Config::cores, or records are to hold cycles and the CPU has no
/// PMU.
Status init(const Config& config);

/// Makes the sites record with `recorder`, which replaces the recorder that each had. Traced
/// functions may be running. It takes about 60 instructions a site, 75 if caches need maintenance.
///
///     if (nopscope::enable(nopscope::Recorder::graph, nopscope::Sites::named("uart_*")) !=
///         nopscope::Status::ok) ...
///
/// Thread context of any core; interrupts may be on. Requests wait for each other, also for those
/// that a pump executes for the host. A request is carried out on all its sites or on none. The
/// errors are Status::not_initialised, Status::unknown_function, Status::no_names,
/// Status::unexpected_text, Status::out_of_reach, Status::too_many, Status::conflict,
/// Status::no_profile_memory, Status::events_refused and Status::timeout.
Status enable(Recorder recorder, const Sites& sites);
/// Makes the sites record nothing: enable() with Recorder::none. Ops stay attached.
Status disable(const Sites& sites);

/// Makes a core other than the boot core record. Call it on that core, in thread context, before
/// the core runs instrumented code. The bounds of its stack are [stack_low, stack_high). The errors
/// are Status::not_initialised, Status::already_initialised, Status::not_deferred, and
/// Status::bad_config (a core number of Config::cores or more, or `stack_low` not below
/// `stack_high`).
Status join(std::uint64_t stack_low, std::uint64_t stack_high);

/// \}
/// \name Callbacks of your own
/// ops.hpp has the types. Call these in thread context of any core, interrupts on, never from a
/// callback. Other cores may be running traced code. A request is carried out on all its sites or
/// on none. The errors are those of enable(), without Status::no_profile_memory and
/// Status::events_refused.
/// \{

/// Adds `ops` to the sites' sets. Attaching it to a site twice is the same as once.
/// Status::bad_config: `ops` has neither a callback nor a direct entry.
Status attach(Ops& ops, const Sites& sites);
/// Removes `ops` from the sites' sets. It returns when no core can be in the callback any more.
///
/// Status::timeout: `ops` has been removed, but a core was still in the tracer's code after a
/// second. Call detach() again before the storage of `ops` goes away. A ReturnOps without sites has
/// no exit called after this, although calls that it hooked may still be open.
Status detach(Ops& ops, const Sites& sites = Sites::all());
/// Makes `sites` the whole set of `ops`: attaches it to the sites that lack it, then detaches it
/// from all others. A site in both the old and the new set loses no call. After a timeout of the
/// first step it still does the second. If the second step fails, the first is not undone.
Status set_filter(Ops& ops, const Sites& sites);
/// Waits until every core has been seen outside the tracer's trampolines and callbacks. Returns
/// false if that took more than a second, or before init().
bool synchronize();

/// \}
/// \name Patch sites
/// Sites have indexes from 0, by ascending address. Any context, after init().
/// \{

/// Returns the number of sites, refused ones included.
std::uint32_t site_count();
/// A patch site.
struct SiteInfo {
    std::uint64_t address;  ///< The function's address.
    bool usable;            ///< False: init() refused the site, so it is never traced.
};
/// Returns a site by its index, which must be below site_count().
SiteInfo site(std::uint32_t index);
/// Returns the index of the function that starts at `address`, if it has a usable site.
std::optional<std::uint32_t> lookup(std::uint64_t address);
/// Copies a site's name and a terminator to `to`, at most `room` bytes. Returns the length of the
/// whole name, at most 255, or 0 if the index is unknown or the image has no name table.
std::size_t site_name(std::uint32_t index, char* to, std::size_t room);
/// Calls visit(index, site) for each site, refused ones included.
template <typename Visit>
void for_each_site(Visit visit) {
    for (std::uint32_t i = 0; i < site_count(); ++i) visit(i, site(i));
}
/// Calls visit(ops, user) for each ops of a site, also the tracer's, in the order of attachment.
/// Thread context, on the core that makes the requests. `visit` must make no request.
void for_each_ops(std::uint32_t index, void (*visit)(Ops& ops, void* user), void* user = nullptr);

/// \}
/// \name Recording
/// \{

/// Stops recording on all cores without patching: the sites stay attached and skip the ring. Calls
/// that have a record of their entry still record their return. Any context.
void stop();
/// Starts recording again after stop(). Any context.
void start();

/// Changes the mode, at once or when the running pump has finished its frame. Functions that
/// adaptive mode has moved go back to the graph recorder. The pump sends what the rings hold in the
/// new mode, except in flight mode. Any context. The errors are Status::not_initialised,
/// Status::bad_config, and for Mode::adaptive Status::no_profile_memory and Status::events_refused.
Status set_mode(Mode mode);

/// \}
/// \name Filters
/// Filters make recorders leave out calls. Counters::filtered counts these calls. The settings are
/// the same for all cores, and each may change while calls are recorded. Any context, except for
/// the two requests trace_only_below() and trace_everywhere().
/// \{

/// Makes the duration recorder leave out calls that are shorter than `ticks` of the recorded clock.
/// Initially 0.
void set_min_duration(std::uint64_t ticks);
/// Limits the depth: the graph, sampled and duration recorders leave out a call if `calls` or more
/// hooked calls are open in its context already. In an interrupt, the interrupted calls count too.
/// A function with a ReturnOps counts twice. Initially 0: only the shadow stack's size limits the
/// depth.
void set_max_depth(std::uint32_t calls);
/// Makes the sampled recorder record every n-th call of each core, from the next call on. Initially
/// 1.
void set_sample(std::uint32_t n);

/// Makes each core record only while a call of one of these functions is open in the running
/// context. That call itself is recorded. Calls that are already open do not count. The request
/// replaces the previous one. Thread context, on a core that has joined. The errors are those of
/// attach(); Status::timeout as in detach().
Status trace_only_below(const Sites& sites);
/// Ends trace_only_below(): each core records everywhere again. Same context and errors.
Status trace_everywhere();

/// \}
/// \name The line
/// \{

/// Moves records from the rings to the line, and executes commands of the host. Call it in an idle
/// loop, a timer interrupt, or both. Any context.
///
/// A call sends no more than the rings held when it began, and keeps to the line's pace: it takes
/// about 10 ms at most on a line that has one. It returns at once if there is nothing to do, or if
/// it interrupted another pump. A command that changes what is traced waits for a pump that did not
/// interrupt a callback or the tracer itself.
///
/// Call it at least every quarter wrap of the recorded 32-bit clock (1 s at 1 GHz). Otherwise
/// recorded times may be ambiguous.
void pump();

/// Returns the bytes that Config::profile_memory needs for this image: 640 a site with one core,
/// 592 more for each other core. Any context, also before init().
std::size_t profile_bytes(unsigned cores);
/// Makes the pump send the whole profile once: about 30 bytes for each called function and core.
/// The pump reads a function's values when it sends them. Open calls are not included. Any context.
void send_profile();
/// What the profile recorder has added up for one function on one core. Times are ticks of the
/// recorded clock.
struct SiteProfile {
    std::uint64_t calls;  ///< Calls that have returned.
    std::uint64_t total;  ///< Sum of the calls' times from entry to return.
    /// Sum of the calls' self times: without the profiled calls and interrupts inside, without the
    /// cost of recording these, and without the pump. Read it as a signed number: the cost is a
    /// mean, so the self time of a few calls may be below zero.
    std::uint64_t self;
    std::uint64_t min;  ///< The shortest call. 2^64 - 1: there was no call.
    std::uint64_t max;  ///< The longest call.
    /// The histogram. Bin 0 counts calls of 0 ticks, bin n calls of 2^(n-1) up to 2^n - 1 ticks.
    std::uint64_t bins[63];
};
/// Reads one function's profile without a host. Call it in thread context of that core. Elsewhere,
/// a call that ends meanwhile may be in some fields only. Returns false if there is no such site or
/// core, or if the profile recorder has not been enabled yet.
bool read_profile(std::uint32_t index, unsigned core, SiteProfile& out);

/// Stops recording, and sends all records, the profile and the last counters. Waits for the line.
/// Thread context.
void finish();

/// Prepares a reset by the firmware: stops recording and cleans the rings from the caches to
/// memory. Thread context.
///
/// At the next boot, init() sends what the rings held under the old session's number, and waits for
/// the line. Without this call it sends only what a pump had cleaned before the reset. After a cold
/// boot there is nothing to send.
void prepare_reset();

/// \}
/// \name Console
/// \{

/// Sends text to the host's console over the line. If the console's buffer is full, it waits for
/// the line. Inside the pump, or in an interrupt of it, it does not wait: it drops the rest and
/// counts it. Any context. Before init() it does nothing.
void console_write(const char* bytes, std::size_t count);
/// For an exception reporter: stops recording and sends what the rings hold. From then on
/// console_write() sends at once, by polling. Nothing else may run any more. Any context.
void enter_panic();

/// \}
/// \name Backtraces
/// While a traced call is open, its return address in memory, x30 or ra is one of the tracer's
/// hooks. These functions find the caller in the running context of this core. Any context, also an
/// exception reporter.
/// \{

/// True if a return address is one of the tracer's hooks instead of the caller.
bool is_return_hook(std::uint64_t address);
/// Returns the real return address behind a hook: that of the innermost open hooked call whose SP
/// at its entry lay in [low, high]. 0: there is none. For a frame record at address r give (r + 1,
/// ~0). For x30 or ra in a function without a frame record give (SP, x29 or s0).
std::uint64_t hooked_return_address_of(std::uint64_t low, std::uint64_t high);
/// Returns the real return address of the open hooked call number `depth`. The innermost is 0.
/// Returns 0 if there is none.
std::uint64_t hooked_return_address(unsigned depth);
/// True if `pc` lies in the tracer's code that runs before a traced function. There x9 is the
/// function's return address, x30 points to its body, and x29 is the caller's; RISC-V: ra, t0, s0.
bool is_entry_code(std::uint64_t pc);

/// \}
/// \name Counters
/// \{

/// What the tracer has counted since init(), on all cores.
struct Counters {
    std::uint32_t sites;               ///< Usable sites.
    std::uint32_t refused_misaligned;  ///< Sites refused: not 8-byte aligned.
    std::uint32_t refused_outside;     ///< Sites refused: not in the text.
    std::uint32_t refused_words;       ///< Sites refused: the words are no patch site.
    std::uint32_t duplicates;          ///< Table entries dropped: empty or repeated.
    std::uint32_t enabled;             ///< Sites whose word is a call now.
    /// Records that init() sent of the session before a warm reset.
    std::uint64_t reset_records;
    std::uint64_t reset_refused;  ///< Records of that session that init() found invalid.
    /// 1: init() sent nothing of that session, because its header was another image's or damaged.
    std::uint32_t reset_headers_refused;
    std::uint64_t generated;  ///< Records put into the rings, plus `dropped` and `filtered`.
    std::uint64_t dropped;    ///< Records that found no room.
    /// Calls that found the ring full in adaptive mode. The profile counts them.
    std::uint64_t overflowed;
    std::uint64_t filtered;           ///< Calls that a filter left out.
    std::uint64_t shadow_stack_full;  ///< Calls not hooked: the shadow stack was full.
    std::uint64_t off_stack;          ///< Calls not hooked: SP lay outside the stack's bounds.
    std::uint64_t recursions;         ///< Callbacks left out: this context was in one.
    std::uint64_t stray_returns;  ///< Hooked calls that returned unrecorded, in another context.
    /// Interrupts that a vector without nopscope_defer took while the core recorded. The recording
    /// may be wrong. Only in a tracer that defers interrupts; see Status::not_deferred.
    std::uint64_t undeferred;
};
/// Returns the counters. Any context.
Counters counters();

/// The site whose word or slot was not as expected.
struct LastError {
    std::uint64_t address;   ///< Where. 0: nothing was unexpected so far.
    std::uint32_t found;     ///< The word that is there.
    std::uint32_t expected;  ///< The word that the tracer expected.
};
/// Returns where the last Status::unexpected_text came from. Thread context.
LastError last_error();

/// \}

}  // namespace nopscope

#include "nopscope/empty.hpp"  // the bodies, in a build without the tracer
