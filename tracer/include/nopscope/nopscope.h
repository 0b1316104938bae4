// SPDX-License-Identifier: Apache-2.0
// The C-callable subset of tracer/include/nopscope/nopscope.hpp, which explains each part under its name without the
// prefix:
//
//     static struct nopscope_ops counter = {.func = seen, .user = &count};
//     nopscope_init(&config);
//     nopscope_attach(&counter, nopscope_functions(list, 2));
//     for (;;) { work(); nopscope_pump(); }
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
#define NOPSCOPE_API static inline  // tracer/include/nopscope/empty.h has the definitions
#endif

enum nopscope_status {
    NOPSCOPE_OK,
    NOPSCOPE_MMU_OR_CACHE_OFF,
    NOPSCOPE_NO_SITES,
    NOPSCOPE_ALREADY_INITIALISED,
    NOPSCOPE_NOT_INITIALISED,
    NOPSCOPE_UNKNOWN_FUNCTION,
    NOPSCOPE_NO_NAMES,
    NOPSCOPE_UNEXPECTED_TEXT,
    NOPSCOPE_OUT_OF_REACH,
    NOPSCOPE_TOO_MANY,
    NOPSCOPE_CONFLICT,
    NOPSCOPE_TIMEOUT,
    NOPSCOPE_NO_PROFILE_MEMORY,
    NOPSCOPE_BAD_CONFIG,
    NOPSCOPE_WRONG_LEVEL,
    NOPSCOPE_WRONG_MEMORY,
    NOPSCOPE_TEXT_NOT_WRITABLE,
    NOPSCOPE_CORES_RUNNING,
    NOPSCOPE_EVENTS_REFUSED,
    NOPSCOPE_RING_TOO_SMALL,
};
NOPSCOPE_API const char* nopscope_describe(enum nopscope_status status);

enum nopscope_recorder {
    NOPSCOPE_NO_RECORDER, NOPSCOPE_FUNCTION, NOPSCOPE_GRAPH, NOPSCOPE_PROFILE,
    NOPSCOPE_DURATION, NOPSCOPE_SAMPLED,
};

// ---- which sites ------------------------------------------------------------------------------------

struct nopscope_sites {
    uint32_t first;
    uint32_t count;
    const void* const* functions;  // not null: these instead of the range
    size_t function_count;
    const char* pattern;           // not null: of these, only what it matches
};
static inline struct nopscope_sites nopscope_range(uint32_t first, uint32_t count) {
    struct nopscope_sites sites = {first, count, NULL, 0, NULL};
    return sites;
}
static inline struct nopscope_sites nopscope_all(void) { return nopscope_range(0, UINT32_MAX); }
static inline struct nopscope_sites nopscope_functions(const void* const* functions, size_t count) {
    struct nopscope_sites sites = {0, 0, functions, count, NULL};
    return sites;
}
static inline struct nopscope_sites nopscope_named(const char* glob) {
    struct nopscope_sites sites = {0, UINT32_MAX, NULL, 0, glob};
    return sites;
}

// ---- set-up -----------------------------------------------------------------------------------------

// What is 0 or null is as in C++, but stack_high: 0 is no bound, and cores: 0 is one.
struct nopscope_config {
    const char* image;
    const char* board;
    uint64_t clock_hz;
    unsigned cores;
    const struct nopscope_machine* machine;
    bool (*try_write)(uint8_t byte);
    void (*drain)(void);
    uint32_t line_bytes_per_second;
    // Commands from the host: Config::input.
    bool (*try_read)(uint8_t* byte);
    uint64_t (*interrupted_pc)(void);
    uint32_t baud;
    bool (*set_baud)(uint32_t baud, bool only_ask);
    void (*reset)(void);
    uint64_t stack_low;
    uint64_t stack_high;
    bool lossless;
    enum nopscope_recorder recorder;  // enabled on `trace` before nopscope_init returns
    struct nopscope_sites trace;
    void* profile_memory;  // nopscope_profile_bytes(cores), for NOPSCOPE_PROFILE
    size_t profile_memory_bytes;
    uint32_t profile_period_ms;
    bool uncalibrated;  // Config::calibrate is false
    bool forgets_at_reset;  // Config::keep_over_reset is false
    const volatile uint32_t* (*interrupt_depth)(unsigned core);
    void (*panic)(const char* message);
};
NOPSCOPE_API enum nopscope_status nopscope_init(const struct nopscope_config* config);
NOPSCOPE_API enum nopscope_status nopscope_join(uint64_t stack_low, uint64_t stack_high);

// ---- what is traced ---------------------------------------------------------------------------------

NOPSCOPE_API enum nopscope_status nopscope_enable(enum nopscope_recorder recorder,
                                                  struct nopscope_sites sites);
NOPSCOPE_API enum nopscope_status nopscope_disable(struct nopscope_sites sites);

// The C++ Regs and Ops (tracer/include/nopscope/ops.hpp): the same objects.
struct nopscope_regs {
    uint64_t x[9];
    uint64_t fp;
    uint64_t lr;
    uint64_t sp;
    uint64_t pc;
};
enum { NOPSCOPE_OPS_REDIRECTS = 1, NOPSCOPE_OPS_UNGUARDED = 2 };
struct nopscope_ops {
    NOPSCOPE_ALIGN_16 void (*func)(uint64_t ip, uint64_t parent_ip, struct nopscope_ops* ops,
                                   struct nopscope_regs* regs);
    uint64_t direct;
    void* user;
    uint32_t flags;
    uint32_t sites;
    void* reserved[2];  // the tracer's own
};
NOPSCOPE_API enum nopscope_status nopscope_attach(struct nopscope_ops* ops,
                                                  struct nopscope_sites sites);
NOPSCOPE_API enum nopscope_status nopscope_detach(struct nopscope_ops* ops,
                                                  struct nopscope_sites sites);
NOPSCOPE_API enum nopscope_status nopscope_set_filter(struct nopscope_ops* ops,
                                                      struct nopscope_sites sites);
NOPSCOPE_API bool nopscope_synchronize(void);

// False: no usable site, and *index is as it was.
NOPSCOPE_API bool nopscope_lookup(uint64_t address, uint32_t* index);

// ---- recording --------------------------------------------------------------------------------------

NOPSCOPE_API void nopscope_stop(void);
NOPSCOPE_API void nopscope_start(void);
NOPSCOPE_API void nopscope_pump(void);
NOPSCOPE_API void nopscope_set_min_duration(uint64_t ticks);
NOPSCOPE_API void nopscope_set_max_depth(uint32_t calls);
NOPSCOPE_API void nopscope_set_sample(uint32_t n);
NOPSCOPE_API enum nopscope_status nopscope_trace_only_below(struct nopscope_sites sites);
NOPSCOPE_API enum nopscope_status nopscope_trace_everywhere(void);
NOPSCOPE_API size_t nopscope_profile_bytes(unsigned cores);
NOPSCOPE_API void nopscope_send_profile(void);
NOPSCOPE_API void nopscope_finish(void);
NOPSCOPE_API void nopscope_console_write(const char* bytes, size_t count);
NOPSCOPE_API void nopscope_enter_panic(void);

// tracer/include/nopscope/triggers.hpp, tracer/include/nopscope/capture.hpp
NOPSCOPE_API void nopscope_mark(uint32_t id);
NOPSCOPE_API void nopscope_counter(uint32_t id, int64_t value);
NOPSCOPE_API enum nopscope_status nopscope_capture_arguments(struct nopscope_sites sites,
                                                             uint8_t mask);
NOPSCOPE_API enum nopscope_status nopscope_capture_result(struct nopscope_sites sites);
NOPSCOPE_API enum nopscope_status nopscope_capture_nothing(struct nopscope_sites sites);

// tracer/include/nopscope/events.hpp. The sentence is that of the last refusal.
NOPSCOPE_API enum nopscope_status nopscope_count_events(const uint16_t* numbers, size_t count);
NOPSCOPE_API const char* nopscope_events_refusal(void);

/* tracer/include/nopscope/samples.hpp: in the handler of an interrupt, with what it found. */
struct nopscope_interruption {
    const uint64_t* x; /* x0 to x30 */
    uint64_t sp;
    uint64_t pc;
};
NOPSCOPE_API void nopscope_sample(const struct nopscope_interruption* at);

// tracer/include/nopscope/interrupts.hpp
NOPSCOPE_API uint64_t nopscope_interrupt_begin(uint32_t number);
NOPSCOPE_API void nopscope_interrupt_end(uint64_t begun);
NOPSCOPE_API void nopscope_interrupts_masked(uint64_t where);
NOPSCOPE_API void nopscope_interrupts_unmasked(void);

struct nopscope_counters {
    uint32_t sites;
    uint32_t refused_misaligned;
    uint32_t refused_outside;
    uint32_t refused_words;
    uint32_t duplicates;
    uint32_t enabled;
    uint64_t generated;
    uint64_t dropped;
    uint64_t filtered;
    uint64_t unhooked;
    uint64_t foreign;
    uint64_t recursions;
    uint64_t stray_returns;
};
NOPSCOPE_API struct nopscope_counters nopscope_counters(void);

struct nopscope_last_error {
    uint64_t address;
    uint32_t found;
    uint32_t expected;
};
NOPSCOPE_API struct nopscope_last_error nopscope_last_error(void);

#include "nopscope/empty.h"  // the bodies, in a build without the tracer

#ifdef __cplusplus
}
#endif
