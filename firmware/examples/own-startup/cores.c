/* SPDX-License-Identifier: Apache-2.0
 * The cores of QEMU virt. PSCI starts them; they call each other by an interrupt of the GICv2. The
 * tracer calls some of this, even within a recorder, so this file has no patch sites. */
#include "cores.h"
#include "mmu.h"

#include <stdatomic.h>

/* cores.S */
uint64_t psci_cpu_on(uint64_t affinity, uint64_t entry, uint64_t context);
void set_vectors(void);
extern char core_entry[];

char stacks[CORES][STACK_BYTES] __attribute__((aligned(16)));
static void (*entries[CORES])(unsigned core);
static _Atomic uint32_t online;

static volatile uint32_t* const distributor = (volatile uint32_t*)0x08000000;
static volatile uint32_t* const interface = (volatile uint32_t*)0x08010000;
enum { CALL = 0 };                             /* the software-generated interrupt */
enum { GICD_CTLR = 0, GICD_SGIR = 0xf00 / 4 }; /* GICv2: IHI 0048 */
enum { GICC_CTLR = 0, GICC_PMR = 1, GICC_IAR = 3, GICC_EOIR = 4 };

/* ---- one call at a time ---- */

static struct {
    atomic_flag in_use;
    nopscope_core_call call;
    void* argument;
    _Atomic uint32_t unclaimed, unfinished; /* a bit for each core */
} request = {.in_use = ATOMIC_FLAG_INIT};

static void answer(uint64_t pc) {
    const uint32_t mine = 1u << core_number();
    if ((atomic_fetch_and(&request.unclaimed, ~mine) & mine) == 0) return;
    __asm__ volatile("isb");
    const struct nopscope_interrupted here = {.core = core_number(), .pc = pc, .depth = 0};
    if (request.call) request.call(request.argument, &here);
    atomic_fetch_and(&request.unfinished, ~mine);
}

/* cores.S calls it, interrupts masked. No other interrupt is enabled: it interrupts a thread. */
void take_interrupt(uint64_t pc) {
    const uint32_t id = interface[GICC_IAR];
    if ((id & 1023) == CALL) answer(pc);
    if ((id & 1023) < 1020) interface[GICC_EOIR] = id;
}

static uint64_t now(void) {
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
static uint64_t second(void) {
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(ticks));
    return ticks;
}

bool cores_call(nopscope_core_call call, void* argument) {
    const uint64_t pc = (uint64_t)__builtin_return_address(0);
    uint64_t interrupts;
    __asm__ volatile("mrs %0, daif\n\tmsr daifset, #2" : "=r"(interrupts)::"memory");
    while (atomic_flag_test_and_set(&request.in_use)) answer(pc);

    /* Orders the caller's writes before the read of `online`. come_online() does the opposite. */
    __asm__ volatile("dsb ish" ::: "memory");
    const uint32_t others = online & ~(1u << core_number());
    request.call = call;
    request.argument = argument;
    request.unfinished = others;
    request.unclaimed = others;
    __asm__ volatile("dsb ish" ::: "memory");
    if (others != 0) distributor[GICD_SGIR] = others << 16 | CALL;

    bool all_came = true;
    for (const uint64_t limit = now() + second(); request.unfinished != 0;) {
        if (!all_came || now() < limit) continue;
        const uint32_t late = atomic_exchange(&request.unclaimed, 0); /* take it back */
        atomic_fetch_and(&request.unfinished, ~late);
        all_came = late == 0;
    }
    atomic_flag_clear(&request.in_use);
    __asm__ volatile("msr daif, %0" ::"r"(interrupts) : "memory");
    return all_came;
}

/* ---- the cores ---- */

uint32_t cores_online(void) { return online; }

/* This firmware keeps it in TPIDR_EL1, so its tracer is built with NOPSCOPE_TPIDR=el0. */
unsigned core_number(void) {
    uint64_t number;
    __asm__ volatile("mrs %0, tpidr_el1" : "=r"(number));
    return (unsigned)number;
}

/* A core goes online before the barriers, and executes other code after them. A caller that did not
 * see it online had already changed the text: this core fetches the new text. */
static void come_online(uint64_t number) {
    __asm__ volatile("msr tpidr_el1, %0" ::"r"(number));
    set_vectors();
    interface[GICC_PMR] = 0xff;
    interface[GICC_CTLR] = 1;
    atomic_fetch_or(&online, 1u << number);
    __asm__ volatile("dsb ish\n\tisb\n\tmsr daifclr, #2" ::: "memory");
}

void cores_prepare(void) {
    distributor[GICD_CTLR] = 1;
    come_online(0);
}

void core_main(void) {
    uint64_t affinity;
    __asm__ volatile("mrs %0, mpidr_el1" : "=r"(affinity));
    come_online(affinity & 0xff);
    entries[affinity & 0xff](affinity & 0xff);
}

bool core_start(unsigned core, void (*entry)(unsigned core)) {
    entries[core] = entry;
    __asm__ volatile("dsb ish" ::: "memory");
    return psci_cpu_on(core, (uint64_t)core_entry, (uint64_t)stacks[core + 1]) == 0;
}
