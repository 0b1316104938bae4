// SPDX-License-Identifier: Apache-2.0
/// \file
/// The API for C. Each function does the same as the C++ function that its comment names, with the
/// same contexts, costs and errors.
///
///     static struct nopscope_ops counter = {.func = seen, .user = &count};
///     nopscope_init(&config);
///     nopscope_attach(&counter, nopscope_functions(list, 2));
///     for (;;) { work(); nopscope_pump(); }
#pragma once

#include "nopscope/enabled.h"
#include "nopscope/machine.h"
#include "nopscope/version.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define NOPSCOPE_ALIGN_16 alignas(16)
#else
#define NOPSCOPE_ALIGN_16 _Alignas(16)
#define NOPSCOPE_NOTRACE __attribute__((patchable_function_entry(0, 0)))
#endif

#if NOPSCOPE_ENABLED
#define NOPSCOPE_API
#else
#define NOPSCOPE_API static inline  // empty.h has the definitions
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
    NOPSCOPE_WRONG_LEVEL,          ///< The exception level is not EL1.
    NOPSCOPE_WRONG_MEMORY,         ///< The rings are not Normal write-back inner shareable.
    NOPSCOPE_TEXT_NOT_WRITABLE,    ///< Neither the text itself nor its alias is writable.
    NOPSCOPE_CORES_RUNNING,        ///< Other cores are on.
    NOPSCOPE_EVENTS_REFUSED,       ///< Events cannot be counted: nopscope_events_refusal().
    NOPSCOPE_RING_TOO_SMALL,       ///< The ring has no room for the returns of all contexts' calls.
};
/// Returns one sentence about a status, in static storage: nopscope::describe().
NOPSCOPE_API const char* nopscope_describe(enum nopscope_status status);

/// What a patch site records: nopscope::Recorder.
enum nopscope_recorder {
    NOPSCOPE_NO_RECORDER,  ///< Nothing.
    NOPSCOPE_FUNCTION,     ///< One record at each entry.
    NOPSCOPE_GRAPH,        ///< One record at each entry and one at each return.
    NOPSCOPE_PROFILE,      ///< No record. The target adds up calls and times.
    NOPSCOPE_DURATION,     ///< One record of each call of nopscope_set_min_duration() or longer.
    NOPSCOPE_SAMPLED,      ///< As graph, but of every n-th call: nopscope_set_sample().
};

/// \name Sites
/// \{

/// Selects the patch sites of a request: nopscope::Sites.
struct nopscope_sites {
    uint32_t first;                ///< The range's first index.
    uint32_t count;                ///< The range's size. The range ends at the table's end.
    const void* const* functions;  ///< If not null: these functions replace the range.
    size_t function_count;         ///< The size of `functions`.
    const char* pattern;           ///< If not null: only sites whose name matches it.
};
/// `count` sites from index `first` on, by ascending address.
static inline struct nopscope_sites nopscope_range(uint32_t first, uint32_t count) {
    struct nopscope_sites sites = {first, count, NULL, 0, NULL};
    return sites;
}
/// All sites.
static inline struct nopscope_sites nopscope_all(void) { return nopscope_range(0, UINT32_MAX); }
/// The sites of these functions. The list must outlive the request.
static inline struct nopscope_sites nopscope_functions(const void* const* functions, size_t count) {
    struct nopscope_sites sites = {0, 0, functions, count, NULL};
    return sites;
}
/// The sites whose linkage name matches a pattern: nopscope::Sites::named().
static inline struct nopscope_sites nopscope_named(const char* glob) {
    struct nopscope_sites sites = {0, UINT32_MAX, NULL, 0, glob};
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
    bool lossless;                    ///< True: nopscope::Mode::lossless, else stream.
    enum nopscope_recorder recorder;  ///< nopscope_init() enables it on `trace`.
    struct nopscope_sites trace;      ///< The sites for `recorder`.
    void* profile_memory;             ///< For NOPSCOPE_PROFILE: nopscope_profile_bytes().
    size_t profile_memory_bytes;      ///< The size of `profile_memory`.
    uint32_t profile_period_ms;       ///< Time between two read-outs, in ms. 0: on request.
    bool uncalibrated;                ///< True: Config::calibrate is false.
    bool forgets_at_reset;            ///< True: Config::keep_over_reset is false.
    /// Returns the address of a core's count of exceptions: Config::interrupt_depth.
    const volatile uint32_t* (*interrupt_depth)(unsigned core);
    void (*panic)(const char* message);  ///< Prints the message and stops the machine.
};
/// Starts the tracer, once, on the boot core: nopscope::init(). On an error the image runs
/// untraced.
NOPSCOPE_API enum nopscope_status nopscope_init(const struct nopscope_config* config);
/// Makes another core record; call it on that core: nopscope::join().
NOPSCOPE_API enum nopscope_status nopscope_join(uint64_t stack_low, uint64_t stack_high);

/// Makes the sites record with `recorder`: nopscope::enable().
NOPSCOPE_API enum nopscope_status nopscope_enable(enum nopscope_recorder recorder,
                                                  struct nopscope_sites sites);
/// Makes the sites record nothing: nopscope::disable().
NOPSCOPE_API enum nopscope_status nopscope_disable(struct nopscope_sites sites);

/// \}

/// The registers at a function's entry: the same object as nopscope::Regs.
struct nopscope_regs {
    uint64_t x[9];  ///< x0 to x8.
    uint64_t fp;    ///< x29.
    uint64_t lr;    ///< x30: where the function will return to.
    uint64_t sp;    ///< The stack pointer, which a callback must not change.
    uint64_t pc;    ///< The function's body.
};
/// Values of nopscope_ops::flags, or 0.
enum {
    NOPSCOPE_OPS_REDIRECTS = 1,  ///< nopscope::ops_redirects
    NOPSCOPE_OPS_UNGUARDED = 2,  ///< nopscope::ops_unguarded
};
/// A callback at function entries: the same object as nopscope::Ops. It needs static storage.
struct nopscope_ops {
    /// The callback, under the rules of nopscope::Callback. Null only with `direct`.
    NOPSCOPE_ALIGN_16 void (*func)(uint64_t ip, uint64_t parent_ip, struct nopscope_ops* ops,
                                   struct nopscope_regs* regs);
    uint64_t direct;    ///< Address of a direct entry, or 0: nopscope::Ops::direct.
    void* user;         ///< For the callback.
    uint32_t flags;     ///< NOPSCOPE_OPS_REDIRECTS, NOPSCOPE_OPS_UNGUARDED.
    uint32_t sites;     ///< How many sites it is attached to. The tracer writes it.
    void* reserved[2];  ///< For the tracer.
};
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

/// Finds the index of the function that starts at `address`: nopscope::lookup(). Returns false, and
/// leaves `*index` as it is, if there is no usable site.
NOPSCOPE_API bool nopscope_lookup(uint64_t address, uint32_t* index);

/// \}
/// \name Recording
/// \{

/// Stops recording without patching: nopscope::stop().
NOPSCOPE_API void nopscope_stop(void);
/// Starts recording again: nopscope::start().
NOPSCOPE_API void nopscope_start(void);
/// Sends records and executes the host's commands: nopscope::pump(). Call it in an idle loop, a
/// timer interrupt, or both.
NOPSCOPE_API void nopscope_pump(void);
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
/// Returns the bytes that the profile's memory needs: nopscope::profile_bytes().
NOPSCOPE_API size_t nopscope_profile_bytes(unsigned cores);
/// Makes the pump send the whole profile once: nopscope::send_profile().
NOPSCOPE_API void nopscope_send_profile(void);
/// Stops recording, sends all, and waits for the line: nopscope::finish().
NOPSCOPE_API void nopscope_finish(void);
/// Sends text to the host's console: nopscope::console_write().
NOPSCOPE_API void nopscope_console_write(const char* bytes, size_t count);
/// For an exception reporter: nopscope::enter_panic().
NOPSCOPE_API void nopscope_enter_panic(void);

/// Records a point in time: nopscope::mark().
NOPSCOPE_API void nopscope_mark(uint32_t id);
/// Records a value that changes over time: nopscope::counter().
NOPSCOPE_API void nopscope_counter(uint32_t id, int64_t value);
/// Records registers at each entry: nopscope::capture_arguments().
NOPSCOPE_API enum nopscope_status nopscope_capture_arguments(struct nopscope_sites sites,
                                                             uint8_t mask);
/// Records x0 at each return: nopscope::capture_result().
NOPSCOPE_API enum nopscope_status nopscope_capture_result(struct nopscope_sites sites);
/// Ends both captures of these functions: nopscope::capture_nothing().
NOPSCOPE_API enum nopscope_status nopscope_capture_nothing(struct nopscope_sites sites);

/// Counts up to two of the PMU's events: nopscope::count_events().
NOPSCOPE_API enum nopscope_status nopscope_count_events(const uint16_t* numbers, size_t count);
/// Returns one sentence, in static storage, about the last NOPSCOPE_EVENTS_REFUSED.
NOPSCOPE_API const char* nopscope_events_refusal(void);

/// \}
/// \name Interrupts
/// \{

/// The registers that an interrupt found: the same object as nopscope::Interruption.
struct nopscope_interruption {
    const uint64_t* x;  ///< x0 to x30.
    uint64_t sp;        ///< The stack pointer.
    uint64_t pc;        ///< The next instruction of the interrupted code.
};
/// Records where the core was; call it in an interrupt's handler: nopscope::sample().
NOPSCOPE_API void nopscope_sample(const struct nopscope_interruption* at);

/// Records that an interrupt begins: nopscope::interrupt_begin().
NOPSCOPE_API uint64_t nopscope_interrupt_begin(uint32_t number);
/// Records that an interrupt ends: nopscope::interrupt_end().
NOPSCOPE_API void nopscope_interrupt_end(uint64_t begun);
/// Reports that interrupts have just been masked: nopscope::interrupts_masked().
NOPSCOPE_API void nopscope_interrupts_masked(uint64_t where);
/// Reports that interrupts are about to be unmasked: nopscope::interrupts_unmasked().
NOPSCOPE_API void nopscope_interrupts_unmasked(void);

/// \}
/// \name Counters
/// \{

/// What the tracer has counted since nopscope_init(): a part of nopscope::Counters.
struct nopscope_counters {
    uint32_t sites;               ///< Usable sites.
    uint32_t refused_misaligned;  ///< Sites refused: not 8-byte aligned.
    uint32_t refused_outside;     ///< Sites refused: not in the text.
    uint32_t refused_words;       ///< Sites refused: the words are no patch site.
    uint32_t duplicates;          ///< Table entries dropped: empty or repeated.
    uint32_t enabled;             ///< Sites whose word is a BL now.
    uint64_t generated;           ///< Records put into the rings, plus `dropped` and `filtered`.
    uint64_t dropped;             ///< Records that found no room.
    uint64_t filtered;            ///< Calls that a filter left out.
    uint64_t shadow_stack_full;   ///< Calls not hooked: the shadow stack was full.
    uint64_t off_stack;           ///< Calls not hooked: SP lay outside the stack's bounds.
    uint64_t recursions;          ///< Callbacks left out: this context was in one.
    uint64_t stray_returns;       ///< Hooked calls that returned unrecorded, in another context.
};
/// Returns the counters: nopscope::counters().
NOPSCOPE_API struct nopscope_counters nopscope_counters(void);

/// Where a word or slot was not as expected: nopscope::LastError.
struct nopscope_last_error {
    uint64_t address;   ///< Where. 0: nothing was unexpected so far.
    uint32_t found;     ///< The word that is there.
    uint32_t expected;  ///< The word that the tracer expected.
};
/// Returns where the last NOPSCOPE_UNEXPECTED_TEXT came from.
NOPSCOPE_API struct nopscope_last_error nopscope_last_error(void);

/// \}

#include "nopscope/empty.h"  // the bodies, in a build without the tracer

#ifdef __cplusplus
}
#endif
