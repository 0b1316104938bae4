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
NOPSCOPE_EMPTY enum nopscope_status nopscope_join(uint64_t stack_low, uint64_t stack_high) {
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

NOPSCOPE_EMPTY uint32_t nopscope_site_count(void) { return 0; }
NOPSCOPE_EMPTY struct nopscope_site_info nopscope_site(uint32_t index) {
    const struct nopscope_site_info none = {0};
    return none;
}
NOPSCOPE_EMPTY bool nopscope_lookup(uint64_t address, uint32_t* index) { return false; }
NOPSCOPE_EMPTY size_t nopscope_site_name(uint32_t index, char* to, size_t room) { return 0; }
NOPSCOPE_EMPTY void nopscope_for_each_ops(uint32_t index,
                                          void (*visit)(struct nopscope_ops* ops, void* user),
                                          void* user) {}

NOPSCOPE_EMPTY void nopscope_stop(void) {}
NOPSCOPE_EMPTY void nopscope_start(void) {}
NOPSCOPE_EMPTY enum nopscope_status nopscope_set_mode(enum nopscope_mode mode) {
    return NOPSCOPE_OK;
}
NOPSCOPE_EMPTY void nopscope_set_min_duration(uint64_t ticks) {}
NOPSCOPE_EMPTY void nopscope_set_max_depth(uint32_t calls) {}
NOPSCOPE_EMPTY void nopscope_set_sample(uint32_t n) {}
NOPSCOPE_EMPTY enum nopscope_status nopscope_trace_only_below(struct nopscope_sites sites) {
    return NOPSCOPE_OK;
}
NOPSCOPE_EMPTY enum nopscope_status nopscope_trace_everywhere(void) { return NOPSCOPE_OK; }
NOPSCOPE_EMPTY void nopscope_pump(void) {}
NOPSCOPE_EMPTY size_t nopscope_profile_bytes(unsigned cores) { return 0; }
NOPSCOPE_EMPTY void nopscope_send_profile(void) {}
NOPSCOPE_EMPTY bool nopscope_read_profile(uint32_t index, unsigned core,
                                          struct nopscope_site_profile* out) {
    return false;
}
NOPSCOPE_EMPTY void nopscope_finish(void) {}
NOPSCOPE_EMPTY void nopscope_prepare_reset(void) {}

NOPSCOPE_EMPTY void nopscope_console_write(const char* bytes, size_t count) {}
NOPSCOPE_EMPTY void nopscope_enter_panic(void) {}

NOPSCOPE_EMPTY bool nopscope_is_return_hook(uint64_t address) { return false; }
NOPSCOPE_EMPTY uint64_t nopscope_hooked_return_address_of(uint64_t low, uint64_t high) { return 0; }
NOPSCOPE_EMPTY uint64_t nopscope_hooked_return_address(unsigned depth) { return 0; }
NOPSCOPE_EMPTY bool nopscope_is_entry_code(uint64_t pc) { return false; }

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
