// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/selftest/in_c.h"

#include "nopscope/nopscope.h"

#include <stddef.h>

void switch_stacks(uint64_t* save_sp, uint64_t sp);  // switch.hpp

struct task {
    struct nopscope_context context;
    struct nopscope_context_frame frames[4];
    _Alignas(16) uint64_t stack[1024];
    uint64_t sp;
};
static struct task tasks[2];
static struct task* running;  // null: main
static uint64_t main_sp;
static selftest_traced call;
static bool right;

// No interrupt handler is traced, so interrupts stay on.
static void switch_to(struct task* to) {
    struct task* const from = running;
    running = to;
    struct nopscope_context* const context = to != NULL ? &to->context : nopscope_main_context();
    right &= nopscope_context_switch(context, NOPSCOPE_SWITCH_REASON_GAVE_WAY) == NOPSCOPE_OK;
    switch_stacks(from != NULL ? &from->sp : &main_sp, to != NULL ? to->sp : main_sp);
}
static void give_way(void) { switch_to(running == &tasks[0] ? &tasks[1] : &tasks[0]); }
static void run_task(void) {
    call(give_way);
    switch_to(running == &tasks[0] ? &tasks[1] : NULL);
}

static bool create(struct task* task) {
#ifdef __riscv
    enum { saved = 26, return_address = 0 };  // what switch_stacks() loads
#else
    enum { saved = 20, return_address = 11 };
#endif
    enum { words = sizeof task->stack / sizeof task->stack[0] };
    uint64_t* const sp = task->stack + words - saved;
    sp[return_address] = (uintptr_t)run_task;
    task->sp = (uintptr_t)sp;
    return nopscope_context_create(&task->context, task->frames, 4, (uintptr_t)task->stack,
                                   (uintptr_t)(task->stack + words), NULL) == NOPSCOPE_OK;
}

bool selftest_run_tasks_in_c(selftest_traced traced) {
    call = traced;
    right = create(&tasks[0]) && create(&tasks[1]);
    if (!right) return false;
    switch_to(&tasks[0]);
    return right;
}
bool selftest_end_tasks_in_c(void) {
    return nopscope_context_destroy(&tasks[0].context) == NOPSCOPE_OK &&
           nopscope_context_destroy(&tasks[1].context) == NOPSCOPE_OK;
}

static unsigned exits;
static bool begin(uint64_t ip, uint64_t parent_ip, struct nopscope_return_ops* ops,
                  struct nopscope_regs* regs, struct nopscope_call_data* data) {
    (void)parent_ip, (void)ops, (void)regs;
    data->words[2] = ip;
    return true;
}
static void end(uint64_t ip, uint64_t return_address, struct nopscope_return_ops* ops,
                struct nopscope_return_regs* regs, struct nopscope_call_data* data) {
    (void)return_address, (void)regs;
    if (data->words[2] == ip && ops->ops.user == &exits) ++exits;
}
static struct nopscope_return_ops returns = NOPSCOPE_RETURN_OPS(begin, end, &exits);

static void do_nothing(void) {}
static void detach_returns(void) {
    right = nopscope_detach(&returns.ops, nopscope_all()) == NOPSCOPE_OK;
}

unsigned selftest_see_returns_in_c(selftest_traced traced) {
    const void* const list[] = {(const void*)(uintptr_t)traced};
    exits = 0;
    if (nopscope_attach(&returns.ops, nopscope_functions(list, 1)) != NOPSCOPE_OK) return 0;
    traced(do_nothing);
    traced(do_nothing);
    traced(detach_returns);
    return right ? exits : 0;
}

static struct nopscope_trigger trigger = NOPSCOPE_TRIGGER(NOPSCOPE_ACTION_STOP, 3, 0);

uint32_t selftest_stop_in_c(const void* const functions[3], selftest_traced traced) {
    const struct nopscope_sites first = nopscope_functions(functions, 1);
    nopscope_trigger_arm(&trigger, 3);
    if (nopscope_attach(&trigger.ops, nopscope_without(nopscope_functions(functions, 3), &first)) !=
        NOPSCOPE_OK)
        return 0;
    const uint32_t sites = trigger.ops.sites;
    while (!nopscope_trigger_has_acted(&trigger)) traced(do_nothing);
    return nopscope_detach(&trigger.ops, nopscope_all()) == NOPSCOPE_OK ? sites : 0;
}
