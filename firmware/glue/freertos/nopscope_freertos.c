// SPDX-License-Identifier: Apache-2.0
// FreeRTOS' tasks as nopscope's contexts, for the ports ARM_AARCH64 and ARM_AARCH64_SRE: one core,
// EL1, tasks on SP_EL0. Compile it without nopscope's flags for traced files: the tracer does not
// trace itself. docs/rtos.md says where each part is called.
//
// Interrupts run on main()'s stack, and so does vTaskSwitchContext(), which chooses the next task.
// That stack is a context of its own, so both may be traced.
#include "FreeRTOS.h"
#include "task.h"

#include <nopscope/nopscope.h>

#if NOPSCOPE_ENABLED

#ifndef NOPSCOPE_FREERTOS_TASKS
#define NOPSCOPE_FREERTOS_TASKS 64  // at a time, the idle task and the timers' task included
#endif
#ifndef NOPSCOPE_FREERTOS_FRAMES
#define NOPSCOPE_FREERTOS_FRAMES 64  // open traced calls of a task, and one
#endif

struct task {
    struct nopscope_context context;
    struct nopscope_context_frame frames[NOPSCOPE_FREERTOS_FRAMES];
    bool is_used;
};
static struct task tasks[NOPSCOPE_FREERTOS_TASKS], interrupts;
static uint64_t running, next;  // numbers of tasks. 0: main(), before the scheduler starts
static uint64_t left_priority, interrupted_pc;
static enum nopscope_switch_reason why;
static bool on_interrupt_stack, left_ready;

extern uint64_t ullPortInterruptNesting, ullPortYieldRequired;
void __real_vTaskSwitchContext(void);
void __real_vPortRestoreTaskContext(void);
void __wrap_vTaskSwitchContext(void);
void __wrap_vPortRestoreTaskContext(void);

static struct nopscope_context* context_of(uint64_t task) {
    return task == 0 ? nopscope_main_context() : &tasks[task - 1].context;
}
// Until nopscope_freertos_start(), nothing is told of tasks: maybe nopscope_init() was refused.
static void switch_to(struct nopscope_context* to, enum nopscope_switch_reason reason) {
    if (!interrupts.is_used) return;
    const enum nopscope_status status = nopscope_context_switch(to, reason);
    configASSERT(status == NOPSCOPE_OK);
    (void)status;
}
static bool create(struct task* task, uint64_t low, uint64_t high,
                   const struct nopscope_context_facts* facts) {
    const enum nopscope_status status = nopscope_context_create(
        &task->context, task->frames, NOPSCOPE_FREERTOS_FRAMES, low, high, facts);
    configASSERT(status == NOPSCOPE_OK);
    return task->is_used = status == NOPSCOPE_OK;
}

void nopscope_freertos_start(uint64_t stack_low, uint64_t stack_high) {
    const struct nopscope_context_facts facts = {.name = "interrupts", .interrupts = true};
    const struct nopscope_context_facts main_facts = {.name = "main"};
    create(&interrupts, stack_low, stack_high, &facts);
    nopscope_context_describe(nopscope_main_context(), &main_facts);
}

// In a critical section. The task has not run.
uint64_t nopscope_freertos_create(uint64_t stack_low, uint64_t stack_high, const char* name,
                                  uint64_t priority, uint64_t id) {
    const struct nopscope_context_facts facts = {
        .name = name, .priority = (uint32_t)priority, .id = id};
    if (!interrupts.is_used) return 0;
    uint64_t free = 0;
    while (free < NOPSCOPE_FREERTOS_TASKS && tasks[free].is_used) ++free;
    configASSERT(free < NOPSCOPE_FREERTOS_TASKS);  // without it, the task's calls are "off_stack"
    if (free == NOPSCOPE_FREERTOS_TASKS) return 0;
    return create(&tasks[free], stack_low, stack_high, &facts) ? free + 1 : 0;
}
void nopscope_freertos_set_priority(uint64_t task, const char* name, uint64_t priority,
                                    uint64_t id) {
    const struct nopscope_context_facts facts = {
        .name = name, .priority = (uint32_t)priority, .id = id};
    if (task != 0) nopscope_context_describe(context_of(task), &facts);
}
// Another task runs, and this one will not run again.
void nopscope_freertos_delete(uint64_t task) {
    if (task == 0) return;
    const enum nopscope_status status = nopscope_context_destroy(context_of(task));
    configASSERT(status == NOPSCOPE_OK);
    tasks[task - 1].is_used = status != NOPSCOPE_OK;
}

// In vTaskSwitchContext(): `out`, then `in`, which may name the same task.
void nopscope_freertos_out(uint64_t priority, bool is_ready, bool has_ended) {
    left_priority = priority;
    left_ready = is_ready;
    why = has_ended ? NOPSCOPE_SWITCH_REASON_ENDED : NOPSCOPE_SWITCH_REASON_BLOCKED;
}
void nopscope_freertos_in(uint64_t task, uint64_t priority) {
    next = task;
    if (!left_ready) return;
    why = on_interrupt_stack || priority > left_priority ? NOPSCOPE_SWITCH_REASON_PREEMPTED
                                                         : NOPSCOPE_SWITCH_REASON_GAVE_WAY;
}

// The port's assembly calls these two instead of what they are named after (ld's --wrap), with
// interrupts masked.
void __wrap_vTaskSwitchContext(void) {
    switch_to(&interrupts.context, NOPSCOPE_SWITCH_REASON_UNKNOWN);
    __real_vTaskSwitchContext();
    switch_to(context_of(running), NOPSCOPE_SWITCH_REASON_UNKNOWN);
    if (next != running) switch_to(context_of(next), why);  // so the reason is the task's
    running = next;
    on_interrupt_stack = false;
}
void __wrap_vPortRestoreTaskContext(void) {
    running = next;
    switch_to(context_of(running), NOPSCOPE_SWITCH_REASON_UNKNOWN);
    __real_vPortRestoreTaskContext();
}

uint64_t nopscope_freertos_interrupt_begin(uint32_t number) {
    if (ullPortInterruptNesting == 1) {  // this interrupt is counted
        __asm__ volatile("mrs %0, elr_el1" : "=r"(interrupted_pc));
        switch_to(&interrupts.context, NOPSCOPE_SWITCH_REASON_UNKNOWN);
        on_interrupt_stack = true;
    }
    return nopscope_interrupt_begin(number);
}
void nopscope_freertos_interrupt_end(uint64_t begun) {
    portDISABLE_INTERRUPTS();
    nopscope_interrupt_end(begun);
    // Otherwise the port calls vTaskSwitchContext() next.
    if (ullPortInterruptNesting == 1 && ullPortYieldRequired == 0) {
        switch_to(context_of(running), NOPSCOPE_SWITCH_REASON_UNKNOWN);
        on_interrupt_stack = false;
    }
}
const volatile uint32_t* nopscope_freertos_interrupt_depth(unsigned core) {
    (void)core;
    return (const volatile uint32_t*)&ullPortInterruptNesting;  // little endian: its low half
}
uint64_t nopscope_freertos_interrupted_pc(void) { return interrupted_pc; }

void nopscope_freertos_ready(uint64_t task) {
    if (task != 0) nopscope_context_event(NOPSCOPE_CONTEXT_EVENT_READY, context_of(task)->number);
}
void nopscope_freertos_takes(const volatile void* object) {
    nopscope_context_event(NOPSCOPE_CONTEXT_EVENT_TAKES, (uint64_t)object);
}
void nopscope_freertos_gives(const volatile void* object) {
    nopscope_context_event(NOPSCOPE_CONTEXT_EVENT_GIVES, (uint64_t)object);
}
void nopscope_freertos_waits(const volatile void* object) {
    nopscope_context_event(NOPSCOPE_CONTEXT_EVENT_WAITS, (uint64_t)object);
}
void nopscope_freertos_name(const volatile void* object, const char* name) {
    nopscope_name_object((uint64_t)object, name);
}

#endif
