/* SPDX-License-Identifier: Apache-2.0
 * Calls nopscope_init() on own-startup's machine in each state that it must refuse, and then in a
 * correct state. Each call prints one line: the error of the state, and init()'s answer. */
#include "mmu.h"
#include "uart.h"

#include <nopscope/nopscope.h>

/* el0.S */
enum nopscope_status init_with_sctlr_bits_off(const struct nopscope_config* config, uint64_t bits);
enum nopscope_status init_at_el0(const struct nopscope_config* config);

static const uint64_t ram = 0x40000000;
static uint64_t* const text_block = &level2[0x200000 / BLOCK];
static uint64_t* const data_block = &level2[0x400000 / BLOCK];

static bool swallow(uint8_t byte) { return (void)byte, true; }

static struct nopscope_machine machine;
static struct nopscope_config config = {.image = "refusals",
                                        .machine = &machine,
                                        .try_write = swallow,
                                        .drain = uart_drain,
                                        .uncalibrated = true};

static void print(const char* text) {
    while (*text != 0) {
        if (uart_try_write((uint8_t)*text)) ++text;
    }
}
static void say(const char* what, enum nopscope_status status) {
    print(what);
    print(": ");
    print(nopscope_describe(status));
    print("\n");
}

static void set(uint64_t* entry, uint64_t value) {
    *(volatile uint64_t*)entry = value;
    __asm__ volatile("dsb ish\n\ttlbi vmalle1\n\tdsb ish\n\tisb" ::: "memory");
}
static enum nopscope_status init_with(uint64_t* entry, uint64_t value) {
    const uint64_t before = *entry;
    set(entry, value);
    const enum nopscope_status status = nopscope_init(&config);
    set(entry, before);
    return status;
}
static enum nopscope_status init_with_data(unsigned attributes, uint64_t shareability) {
    return init_with(data_block, block(ram + 0x400000, attributes, shareability | NO_EXECUTE));
}

static uint32_t two_cores(void) { return 3; }
static unsigned core_0(void) { return 0; }

int main(void) {
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(config.clock_hz));
    machine.text_alias = TEXT_ALIAS;

    const uint64_t for_el0 = 1 << 6, text = *text_block, data = *data_block;
    set(text_block, text | for_el0);
    set(data_block, data | for_el0);
    say("EL0", init_at_el0(&config));
    set(data_block, data);
    set(text_block, text);

    say("MMU off", init_with_sctlr_bits_off(&config, 1 << 0));
    say("data cache off", init_with_sctlr_bits_off(&config, 1 << 2));
    say("ring not cacheable", init_with_data(ATTR_NONCACHEABLE, INNER_SHAREABLE));
    say("ring write-through", init_with_data(ATTR_WRITE_THROUGH, INNER_SHAREABLE));
    say("ring in device memory", init_with_data(ATTR_DEVICE, INNER_SHAREABLE));
    say("ring not shareable", init_with_data(ATTR_NORMAL, 0));

    static char cells[64];
    set(&level1[3], block(ram, ATTR_NONCACHEABLE, NO_EXECUTE | INNER_SHAREABLE));
    config.profile_memory =
        (void*)((uintptr_t)cells + 0x80000000); /* the same memory, not cacheable */
    config.profile_memory_bytes = sizeof cells;
    say("profile not cacheable", nopscope_init(&config));
    config.profile_memory = 0;
    config.profile_memory_bytes = 0;

    machine.text_alias = 0;
    say("no alias", nopscope_init(&config));
    machine.text_alias = TEXT_ALIAS + BLOCK;
    say("alias of something else", nopscope_init(&config));
    machine.text_alias = -0x20000000;
    say("alias not mapped", nopscope_init(&config));
    machine.text_alias = TEXT_ALIAS;

    machine.online_cores = two_cores;
    machine.core = core_0;
    say("two cores on", nopscope_init(&config));
    machine.online_cores = 0;

    const void* const except[] = {(const void*)main};
    config.recorder = NOPSCOPE_GRAPH;
    config.except = except;
    config.except_count = 1;
    say("nothing wrong", nopscope_init(&config));
    const struct nopscope_counters counters = nopscope_counters();
    const bool all_but_one = counters.enabled > 1 && counters.enabled == counters.sites - 1;
    print(all_but_one ? "all but main: traced\n" : "all but main: not so\n");
    return 0;
}
