// SPDX-License-Identifier: Apache-2.0
/// \file
/// The API for C: all that C++ has. Each function does the same as the C++ function that its
/// comment names, with the same contexts, costs and errors.
///
/// X.h has what X.hpp has. This header includes all of them: firmware in C has always needed only
/// one.
///
///     static struct nopscope_ops counter = {.func = seen, .user = &count};
///     nopscope_init(&config);
///     nopscope_attach(&counter, nopscope_functions(list, 2));
///     for (;;) { work(); nopscope_pump(); }
#pragma once

#include "nopscope/enabled.h"
#include "nopscope/machine.h"
#include "nopscope/ops.h"
#include "nopscope/recorders.h"
#include "nopscope/version.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The result of a request: nopscope::Status. nopscope_describe() turns it into a sentence.
enum nopscope_status {
    NOPSCOPE_OK,                   ///< The request was carried out.
    NOPSCOPE_MMU_OR_CACHE_OFF,     ///< The MMU or the data cache is off.
    NOPSCOPE_NO_SITES,             ///< Nothing in the image was built with patch sites.
    NOPSCOPE_ALREADY_INITIALISED,  ///< nopscope_init() has been called, or this core has joined.
    NOPSCOPE_NOT_INITIALISED,      ///< No nopscope_init(), or no nopscope_join() on this core.
    NOPSCOPE_UNKNOWN_FUNCTION,     ///< A function has no usable site, or no site has such a name.
    NOPSCOPE_NO_NAMES,             ///< The image has no name table, or another image's.
    NOPSCOPE_UNEXPECTED_TEXT,      ///< A word was not as expected: nopscope_last_error().
    NOPSCOPE_OUT_OF_REACH,         ///< A recorder is more than 128 MiB from a site.
    NOPSCOPE_TOO_MANY,             ///< Too many ops on one function, or too many sets of ops.
    NOPSCOPE_CONFLICT,             ///< Two ops of a function have a direct entry or a redirect.
    NOPSCOPE_TIMEOUT,              ///< Carried out, but a core may not have seen it yet.
    NOPSCOPE_NO_PROFILE_MEMORY,    ///< The profile's memory is absent or too small.
    NOPSCOPE_BAD_CONFIG,           ///< An argument or a field of the configuration is out of range.
    NOPSCOPE_WRONG_LEVEL,          ///< The level is not EL1 (RISC-V: M-mode).
    NOPSCOPE_WRONG_MEMORY,         ///< The rings are not Normal write-back inner shareable.
    NOPSCOPE_TEXT_NOT_WRITABLE,    ///< Neither the text itself nor its alias is writable.
    NOPSCOPE_CORES_RUNNING,        ///< Other cores are on.
    NOPSCOPE_EVENTS_REFUSED,       ///< Events cannot be counted: nopscope_events_refusal().
    NOPSCOPE_RING_TOO_SMALL,       ///< The ring has no room for the returns of all contexts' calls.
    NOPSCOPE_NOT_DEFERRED,         ///< The IRQ vector does not begin with nopscope_defer.
};
/// Returns one sentence about a status, in static storage: nopscope::describe().
NOPSCOPE_API const char* nopscope_describe(enum nopscope_status status);
/// True if the request was carried out: nopscope::carried_out().
static inline bool nopscope_carried_out(enum nopscope_status status) {
    return status == NOPSCOPE_OK || status == NOPSCOPE_TIMEOUT;
}

/// \name Sites
/// \{

/// Selects the patch sites of a request: nopscope::Sites.
struct nopscope_sites {
    uint32_t first;                        ///< The range's first index.
    uint32_t count;                        ///< The range's size. The range ends at the table's end.
    const void* const* functions;          ///< If not null: these functions replace the range.
    size_t function_count;                 ///< The size of `functions`.
    const char* pattern;                   ///< If not null: only sites whose name matches it.
    const struct nopscope_sites* notrace;  ///< If not null: without these sites.
};
/// `count` sites from index `first` on, by ascending address.
static inline struct nopscope_sites nopscope_range(uint32_t first, uint32_t count) {
    struct nopscope_sites sites = {first, count, NULL, 0, NULL, NULL};
    return sites;
}
/// All sites.
static inline struct nopscope_sites nopscope_all(void) { return nopscope_range(0, UINT32_MAX); }
/// The sites of these functions. The list must outlive the request.
static inline struct nopscope_sites nopscope_functions(const void* const* functions, size_t count) {
    struct nopscope_sites sites = {0, 0, functions, count, NULL, NULL};
    return sites;
}
/// The sites whose linkage name matches a pattern: nopscope::Sites::named().
static inline struct nopscope_sites nopscope_named(const char* glob) {
    struct nopscope_sites sites = {0, UINT32_MAX, NULL, 0, glob, NULL};
    return sites;
}
/// `sites` without those of `less`: nopscope::Sites::without(). `less` must outlive the request and
/// must not be the result of nopscope_without() itself.
static inline struct nopscope_sites nopscope_without(struct nopscope_sites sites,
                                                     const struct nopscope_sites* less) {
    sites.notrace = less;
    return sites;
}

/// \}
/// \name Set-up and recorders
/// \{

/// What nopscope_init() needs to know: nopscope::Config, whose fields have the same names.
///
/// `clock_hz` and `try_write` are required. 0 or null means the default of C++, also for
/// `stack_high` (no bound) and `cores` (one).
struct nopscope_config {
    const char* image;                       ///< The firmware's name, at most 255 bytes.
    const char* board;                       ///< The board's name, at most 255 bytes.
    uint64_t clock_hz;                       ///< Rate of CNTVCT_EL0 in Hz.
    unsigned cores;                          ///< How many cores will ever record.
    const struct nopscope_machine* machine;  ///< How the tracer writes text and calls other cores.
    bool (*try_write)(uint8_t byte);         ///< Sends a byte, or returns false at once.
    void (*drain)(void);                     ///< Waits until the last byte has left.
    uint32_t line_bytes_per_second;          ///< The line's pace: baud / 10. 0: no pace.
    bool (*try_read)(uint8_t* byte);         ///< Takes a received byte, or returns false at once.
    uint64_t (*interrupted_pc)(void);        ///< In an interrupt: the pc of the thread context.
    uint32_t baud;                           ///< The line's rate now.
    bool (*set_baud)(uint32_t baud, bool only_ask);  ///< Sets or checks the line's rate.
    void (*reset)(void);                             ///< Resets the machine and does not return.
    uint64_t stack_low;                              ///< The lowest SP of the boot core's stack.
    uint64_t stack_high;                             ///< The end of the boot core's stack.
    enum nopscope_mode mode;                         ///< What happens when a ring is full.
    enum nopscope_recorder recorder;                 ///< nopscope_init() enables it on `trace`.
    struct nopscope_sites trace;  ///< The sites for `recorder`. All zero: all sites.
    const void* const* except;    ///< Functions that `recorder` leaves out.
    size_t except_count;          ///< The size of `except`.
    void* profile_memory;         ///< For NOPSCOPE_PROFILE: nopscope_profile_bytes().
    size_t profile_memory_bytes;  ///< The size of `profile_memory`.
    uint32_t profile_period_ms;   ///< Time between two read-outs, in ms. 0: on request.
    bool uncalibrated;            ///< True: Config::calibrate is false.
    bool forgets_at_reset;        ///< True: Config::keep_over_reset is false.
    /// Returns the address of a core's count of exceptions: Config::interrupt_depth.
    const volatile uint32_t* (*interrupt_depth)(unsigned core);
    void (*while_waiting)(void);  ///< Called while the tracer waits: Config::while_waiting.
    uint32_t pump_budget;  ///< Instructions that the pump may mask interrupts for. 0: 10,000.
    void (*panic)(const char* message);  ///< Prints the message and stops the machine.
};
/// Starts the tracer, once, on the boot core: nopscope::init(). On an error the image runs
/// untraced.
NOPSCOPE_API enum nopscope_status nopscope_init(const struct nopscope_config* config);

/// Makes the sites record with `recorder`: nopscope::enable().
NOPSCOPE_API enum nopscope_status nopscope_enable(enum nopscope_recorder recorder,
                                                  struct nopscope_sites sites);
/// Makes the sites record nothing: nopscope::disable().
NOPSCOPE_API enum nopscope_status nopscope_disable(struct nopscope_sites sites);

/// Makes another core record; call it on that core: nopscope::join().
NOPSCOPE_API enum nopscope_status nopscope_join(uint64_t stack_low, uint64_t stack_high);

/// \}
/// \name Callbacks of your own
/// \{

/// Adds `ops` to the sites' sets: nopscope::attach().
NOPSCOPE_API enum nopscope_status nopscope_attach(struct nopscope_ops* ops,
                                                  struct nopscope_sites sites);
/// Removes `ops` from the sites' sets: nopscope::detach(). After NOPSCOPE_TIMEOUT call it again
/// before the storage goes away.
NOPSCOPE_API enum nopscope_status nopscope_detach(struct nopscope_ops* ops,
                                                  struct nopscope_sites sites);
/// Makes `sites` the whole set of `ops`: nopscope::set_filter().
NOPSCOPE_API enum nopscope_status nopscope_set_filter(struct nopscope_ops* ops,
                                                      struct nopscope_sites sites);
/// Waits until no core is in the tracer's code, for a second at most: nopscope::synchronize().
NOPSCOPE_API bool nopscope_synchronize(void);

/// \}
/// \name Patch sites
/// \{

/// Returns the number of sites, refused ones included: nopscope::site_count().
NOPSCOPE_API uint32_t nopscope_site_count(void);
/// A patch site: nopscope::SiteInfo.
struct nopscope_site_info {
    uint64_t address;  ///< The function's address.
    bool usable;       ///< False: nopscope_init() refused the site, so it is never traced.
};
/// Returns a site by its index, which must be below nopscope_site_count(): nopscope::site().
NOPSCOPE_API struct nopscope_site_info nopscope_site(uint32_t index);
/// Finds the index of the function that starts at `address`: nopscope::lookup(). Returns false, and
/// leaves `*index` as it is, if there is no usable site.
NOPSCOPE_API bool nopscope_lookup(uint64_t address, uint32_t* index);
/// Copies a site's name, and returns its whole length: nopscope::site_name().
NOPSCOPE_API size_t nopscope_site_name(uint32_t index, char* to, size_t room);
/// Calls visit(ops, user) for each ops of a site: nopscope::for_each_ops().
NOPSCOPE_API void nopscope_for_each_ops(uint32_t index,
                                        void (*visit)(struct nopscope_ops* ops, void* user),
                                        void* user);

/// \}
/// \name Recording
/// \{

/// Stops recording without patching: nopscope::stop().
NOPSCOPE_API void nopscope_stop(void);
/// Starts recording again: nopscope::start().
NOPSCOPE_API void nopscope_start(void);
/// Changes the mode: nopscope::set_mode().
NOPSCOPE_API enum nopscope_status nopscope_set_mode(enum nopscope_mode mode);

/// \}
/// \name Filters
/// \{

/// Sets the shortest call that the duration recorder records: nopscope::set_min_duration().
NOPSCOPE_API void nopscope_set_min_duration(uint64_t ticks);
/// Sets how many open calls deep calls are recorded: nopscope::set_max_depth().
NOPSCOPE_API void nopscope_set_max_depth(uint32_t calls);
/// Makes the sampled recorder record every n-th call: nopscope::set_sample().
NOPSCOPE_API void nopscope_set_sample(uint32_t n);
/// Records only while a call of these functions is open: nopscope::trace_only_below().
NOPSCOPE_API enum nopscope_status nopscope_trace_only_below(struct nopscope_sites sites);
/// Records everywhere again: nopscope::trace_everywhere().
NOPSCOPE_API enum nopscope_status nopscope_trace_everywhere(void);

/// \}
/// \name The line
/// \{

/// Sends records and executes the host's commands: nopscope::pump(). Call it in an idle loop, a
/// timer interrupt, or both.
NOPSCOPE_API void nopscope_pump(void);
/// Returns the bytes that the profile's memory needs: nopscope::profile_bytes().
NOPSCOPE_API size_t nopscope_profile_bytes(unsigned cores);
/// Makes the pump send the whole profile once: nopscope::send_profile().
NOPSCOPE_API void nopscope_send_profile(void);
/// The profile of one function on one core: the same object as nopscope::SiteProfile.
struct nopscope_site_profile {
    uint64_t calls;     ///< Calls that have returned.
    uint64_t total;     ///< Sum of the calls' times from entry to return, in ticks.
    uint64_t self;      ///< Sum of the calls' self times. Read it as a signed number.
    uint64_t min;       ///< The shortest call. 2^64 - 1: there was no call.
    uint64_t max;       ///< The longest call.
    uint64_t bins[63];  ///< The histogram: bin n counts calls of 2^(n-1) up to 2^n - 1 ticks.
};
/// Reads one function's profile without a host: nopscope::read_profile().
NOPSCOPE_API bool nopscope_read_profile(uint32_t index, unsigned core,
                                        struct nopscope_site_profile* out);
/// Stops recording, sends all, and waits for the line: nopscope::finish().
NOPSCOPE_API void nopscope_finish(void);
/// Prepares a reset by the firmware: nopscope::prepare_reset().
NOPSCOPE_API void nopscope_prepare_reset(void);

/// \}
/// \name Console
/// \{

/// Sends text to the host's console: nopscope::console_write().
NOPSCOPE_API void nopscope_console_write(const char* bytes, size_t count);
/// For an exception reporter: nopscope::enter_panic().
NOPSCOPE_API void nopscope_enter_panic(void);

/// \}
/// \name Backtraces
/// \{

/// True if a return address is one of the tracer's hooks: nopscope::is_return_hook().
NOPSCOPE_API bool nopscope_is_return_hook(uint64_t address);
/// Returns the real return address behind a hook: nopscope::hooked_return_address_of().
NOPSCOPE_API uint64_t nopscope_hooked_return_address_of(uint64_t low, uint64_t high);
/// Returns that of the open hooked call number `depth`: nopscope::hooked_return_address().
NOPSCOPE_API uint64_t nopscope_hooked_return_address(unsigned depth);
/// True if `pc` lies in the tracer's code before a traced function: nopscope::is_entry_code().
NOPSCOPE_API bool nopscope_is_entry_code(uint64_t pc);

/// \}
/// \name Counters
/// \{

/// What the tracer has counted since nopscope_init(): nopscope::Counters.
struct nopscope_counters {
    uint32_t sites;                  ///< Usable sites.
    uint32_t refused_misaligned;     ///< Sites refused: not 8-byte aligned.
    uint32_t refused_outside;        ///< Sites refused: not in the text.
    uint32_t refused_words;          ///< Sites refused: the words are no patch site.
    uint32_t duplicates;             ///< Table entries dropped: empty or repeated.
    uint32_t enabled;                ///< Sites whose word is a call now.
    uint64_t reset_records;          ///< Records sent of the session before a warm reset.
    uint64_t reset_refused;          ///< Records of that session that were invalid.
    uint32_t reset_headers_refused;  ///< 1: that session's header was another image's or damaged.
    uint64_t generated;              ///< Records put into the rings, plus `dropped`, `filtered`.
    uint64_t dropped;                ///< Records that found no room.
    uint64_t overflowed;             ///< Calls that found the ring full in adaptive mode.
    uint64_t filtered;               ///< Calls that a filter left out.
    uint64_t shadow_stack_full;      ///< Calls not hooked: the shadow stack was full.
    uint64_t off_stack;              ///< Calls not hooked: SP lay outside the stack's bounds.
    uint64_t recursions;             ///< Callbacks left out: this context was in one.
    uint64_t stray_returns;          ///< Hooked calls that returned unrecorded, in another context.
    uint64_t undeferred;             ///< Interrupts that a vector without nopscope_defer took.
};
/// Returns the counters: nopscope::counters().
NOPSCOPE_API struct nopscope_counters nopscope_counters(void);

/// Where a word or slot was not as expected: nopscope::LastError.
struct nopscope_last_error {
    uint64_t address;   ///< Where. 0: nothing was unexpected so far.
    uint32_t found;     ///< The word that is there.
    uint32_t expected;  ///< The word that the tracer expected.
};
/// Returns where the last NOPSCOPE_UNEXPECTED_TEXT came from: nopscope::last_error().
NOPSCOPE_API struct nopscope_last_error nopscope_last_error(void);

/// \}

#include "nopscope/empty.h"  // the bodies, in a build without the tracer

#ifdef __cplusplus
}
#endif

#include "nopscope/capture.h"
#include "nopscope/contexts.h"
#include "nopscope/events.h"
#include "nopscope/interrupts.h"
#include "nopscope/return_ops.h"
#include "nopscope/samples.h"
#include "nopscope/triggers.h"
