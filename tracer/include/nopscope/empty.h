// SPDX-License-Identifier: Apache-2.0
// The functions of nopscope.h in a build without the tracer, as empty.hpp for C++. nopscope.h
// includes it behind its declarations, within its extern "C".
#pragma once

#include "nopscope/nopscope.h"

#if !NOPSCOPE_ENABLED
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

NOPSCOPE_EMPTY const char* nopscope_describe(enum nopscope_status status) { return ""; }

NOPSCOPE_EMPTY enum nopscope_status nopscope_init(const struct nopscope_config* config) {
    return NOPSCOPE_OK;
}
NOPSCOPE_EMPTY enum nopscope_status nopscope_join(uint64_t low, uint64_t high) {
    return NOPSCOPE_OK;
}
NOPSCOPE_EMPTY enum nopscope_status nopscope_enable(enum nopscope_recorder recorder,
                                                    struct nopscope_sites sites) {
    return NOPSCOPE_OK;
}
NOPSCOPE_EMPTY enum nopscope_status nopscope_disable(struct nopscope_sites sites) {
    return NOPSCOPE_OK;
}

NOPSCOPE_EMPTY enum nopscope_status nopscope_attach(struct nopscope_ops* ops,
                                                    struct nopscope_sites sites) {
    return NOPSCOPE_OK;
}
NOPSCOPE_EMPTY enum nopscope_status nopscope_detach(struct nopscope_ops* ops,
                                                    struct nopscope_sites sites) {
    return NOPSCOPE_OK;
}
NOPSCOPE_EMPTY enum nopscope_status nopscope_set_filter(struct nopscope_ops* ops,
                                                        struct nopscope_sites sites) {
    return NOPSCOPE_OK;
}
NOPSCOPE_EMPTY bool nopscope_synchronize(void) { return true; }
NOPSCOPE_EMPTY bool nopscope_lookup(uint64_t address, uint32_t* index) { return false; }

NOPSCOPE_EMPTY void nopscope_stop(void) {}
NOPSCOPE_EMPTY void nopscope_start(void) {}
NOPSCOPE_EMPTY void nopscope_pump(void) {}
NOPSCOPE_EMPTY void nopscope_set_min_duration(uint64_t ticks) {}
NOPSCOPE_EMPTY void nopscope_set_max_depth(uint32_t calls) {}
NOPSCOPE_EMPTY void nopscope_set_sample(uint32_t n) {}
NOPSCOPE_EMPTY enum nopscope_status nopscope_trace_only_below(struct nopscope_sites sites) {
    return NOPSCOPE_OK;
}
NOPSCOPE_EMPTY enum nopscope_status nopscope_trace_everywhere(void) { return NOPSCOPE_OK; }
NOPSCOPE_EMPTY size_t nopscope_profile_bytes(unsigned cores) { return 0; }
NOPSCOPE_EMPTY void nopscope_send_profile(void) {}
NOPSCOPE_EMPTY void nopscope_finish(void) {}
NOPSCOPE_EMPTY void nopscope_console_write(const char* bytes, size_t count) {}
NOPSCOPE_EMPTY void nopscope_enter_panic(void) {}

NOPSCOPE_EMPTY void nopscope_mark(uint32_t id) {}
NOPSCOPE_EMPTY void nopscope_counter(uint32_t id, int64_t value) {}
NOPSCOPE_EMPTY enum nopscope_status nopscope_capture_arguments(struct nopscope_sites sites,
                                                               uint8_t mask) {
    return NOPSCOPE_OK;
}
NOPSCOPE_EMPTY enum nopscope_status nopscope_capture_result(struct nopscope_sites sites) {
    return NOPSCOPE_OK;
}
NOPSCOPE_EMPTY enum nopscope_status nopscope_capture_nothing(struct nopscope_sites sites) {
    return NOPSCOPE_OK;
}
NOPSCOPE_EMPTY enum nopscope_status nopscope_count_events(const uint16_t* numbers, size_t count) {
    return NOPSCOPE_OK;
}
NOPSCOPE_EMPTY const char* nopscope_events_refusal(void) { return ""; }

NOPSCOPE_EMPTY void nopscope_sample(const struct nopscope_interruption* at) {}
NOPSCOPE_EMPTY uint64_t nopscope_interrupt_begin(uint32_t number) { return 0; }
NOPSCOPE_EMPTY void nopscope_interrupt_end(uint64_t begun) {}
NOPSCOPE_EMPTY void nopscope_interrupts_masked(uint64_t where) {}
NOPSCOPE_EMPTY void nopscope_interrupts_unmasked(void) {}

NOPSCOPE_EMPTY struct nopscope_counters nopscope_counters(void) {
    const struct nopscope_counters none = {0};
    return none;
}
NOPSCOPE_EMPTY struct nopscope_last_error nopscope_last_error(void) {
    const struct nopscope_last_error none = {0};
    return none;
}

#pragma GCC diagnostic pop
#endif
