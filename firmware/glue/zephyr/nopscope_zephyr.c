// SPDX-License-Identifier: Apache-2.0
// nopscope under Zephyr (arm64, SMP): docs/rtos.md. No function of this file is traced.
//
// The linker puts the __wrap_ functions in the place of those that Zephyr's assembly calls. So no
// traced function runs between such a call and what it tells of.
#if __has_include(<zephyr/kernel.h>)
#include <zephyr/drivers/interrupt_controller/gic.h>
#include <zephyr/drivers/uart.h>
#include <zephyr/init.h>
#include <zephyr/kernel.h>
#include <zephyr/kernel/mm.h>
#include <zephyr/version.h>
#else
#include <device.h>
#include <drivers/interrupt_controller/gic.h>
#include <drivers/uart.h>
#include <init.h>
#include <kernel.h>
#include <sys/mem_manage.h>
#include <version.h>
#endif

#include <nopscope/nopscope.h>

#ifndef NOPSCOPE_ZEPHYR_THREADS
#define NOPSCOPE_ZEPHYR_THREADS 32
#endif
#ifndef NOPSCOPE_ZEPHYR_FRAMES
#define NOPSCOPE_ZEPHYR_FRAMES 64
#endif
#ifndef NOPSCOPE_ZEPHYR_PUMP_PRIORITY
#define NOPSCOPE_ZEPHYR_PUMP_PRIORITY K_LOWEST_APPLICATION_THREAD_PRIO
#endif

#ifdef CONFIG_MP_MAX_NUM_CPUS
enum { CORES = CONFIG_MP_MAX_NUM_CPUS };
#else
enum { CORES = CONFIG_MP_NUM_CPUS };
#endif
enum { CALL_SGI = 7, DEEPEST = 8 };

extern char __text_region_start[], __text_region_end[], nopscope_zephyr_vectors[];
extern void __printk_hook_install(int (*)(int));

static const struct device* const line = DEVICE_DT_GET(DT_CHOSEN(zephyr_console));
static bool started;

struct thread {
    struct nopscope_context context;
    struct nopscope_context_frame frames[NOPSCOPE_ZEPHYR_FRAMES];
    bool yields;
};
static struct k_thread* keys[NOPSCOPE_ZEPHYR_THREADS];
static struct thread threads[NOPSCOPE_ZEPHYR_THREADS];

static struct cpu {
    uint64_t pc[DEEPEST], begun[DEEPEST];
    volatile uint32_t depth;
    struct nopscope_context interrupts, *interrupted;
    struct nopscope_context_frame frames[NOPSCOPE_ZEPHYR_FRAMES];
    enum nopscope_switch_reason why;
    bool joined;
} cpus[CORES];
static uint32_t online;

static unsigned here(void) { return arch_curr_cpu()->id; }
static uint64_t irq_stack(void) {
    return (uint64_t)arch_curr_cpu()->irq_stack - CONFIG_ISR_STACK_SIZE;
}

// Zephyr's own spinlock calls functions of the kernel where it asserts.
static bool names_locked;
static unsigned lock_names(void) {
    const unsigned key = arch_irq_lock();
    while (__atomic_exchange_n(&names_locked, true, __ATOMIC_ACQUIRE)) {
    }
    return key;
}
static void unlock_names(unsigned key) {
    __atomic_store_n(&names_locked, false, __ATOMIC_RELEASE);
    arch_irq_unlock(key);
}

// ---- threads ----

static struct thread* find(const struct k_thread* thread) {
    for (unsigned i = 0; i < NOPSCOPE_ZEPHYR_THREADS; ++i)
        if (keys[i] == thread) return &threads[i];
    return NULL;
}
static struct nopscope_context_facts facts_of(const struct k_thread* thread) {
    return (struct nopscope_context_facts){
        .name = thread->name, .priority = (uint32_t)thread->base.prio, .id = (uint64_t)thread};
}
// A thread's context is created when it runs for the first time.
static struct nopscope_context* context_of(struct k_thread* thread) {
    struct thread* own = find(thread);
    for (unsigned i = 0; own == NULL && i < NOPSCOPE_ZEPHYR_THREADS; ++i) {
        struct k_thread* none = NULL;
        if (!__atomic_compare_exchange_n(&keys[i], &none, thread, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        own = &threads[i];
        const unsigned key = lock_names();
        // A thread's first SP is the end of its stack.
        const uint64_t low = thread->stack_info.start;
        const struct nopscope_context_facts facts = facts_of(thread);
        if (nopscope_context_create(&own->context, own->frames, NOPSCOPE_ZEPHYR_FRAMES, low,
                                    low + thread->stack_info.size + 16, &facts) != NOPSCOPE_OK)
            k_panic();
        unlock_names(key);
    }
    if (own == NULL) k_panic();  // NOPSCOPE_ZEPHYR_THREADS
    return &own->context;
}
// Another core may still be between the old thread and its next one, with interrupts masked.
static void go_to(struct nopscope_context* to, enum nopscope_switch_reason why) {
    while (nopscope_context_switch(to, why) == NOPSCOPE_CONFLICT) {
    }
}
static void forget(struct k_thread* thread) {
    struct thread* const own = find(thread);
    if (own == NULL) return;
    while (nopscope_context_destroy(&own->context) == NOPSCOPE_CONFLICT) {
    }
    __atomic_store_n(&keys[own - threads], NULL, __ATOMIC_RELEASE);
}

// On the old thread's stack, interrupts masked.
void __wrap_z_thread_mark_switched_out(void) {
    const struct k_thread* const thread = arch_curr_cpu()->current;
    const uint8_t state = thread->base.thread_state;
    const struct thread* const own = find(thread);
    cpus[here()].why = (state & _THREAD_DEAD) != 0 ? NOPSCOPE_SWITCH_REASON_ENDED
                       : (state & (_THREAD_PENDING | _THREAD_SUSPENDED)) != 0
                           ? NOPSCOPE_SWITCH_REASON_BLOCKED
                       : own != NULL && own->yields ? NOPSCOPE_SWITCH_REASON_GAVE_WAY
                                                    : NOPSCOPE_SWITCH_REASON_PREEMPTED;
}

static void set_vectors(void) {
    __asm__ volatile("msr vbar_el1, %0\n\tisb" ::"r"(nopscope_zephyr_vectors));
}

// The core's stack for interrupts. In Zephyr 3.0 only start-up uses it.
static void create_interrupts(void) {
    static const struct nopscope_context_facts facts = {.name = "interrupts", .interrupts = true};
    struct cpu* const cpu = &cpus[here()];
    if (nopscope_context_create(&cpu->interrupts, cpu->frames, NOPSCOPE_ZEPHYR_FRAMES, irq_stack(),
                                irq_stack() + CONFIG_ISR_STACK_SIZE, &facts) != NOPSCOPE_OK)
        k_panic();
}

// Another core joins before it runs a traced function: on its stack for interrupts.
static arch_cpustart_t begins_with;
static void begin_core(void* argument) {
    const arch_cpustart_t begin = begins_with;
    // Zephyr starts with SP_EL0, and SP_EL1 is the same stack's end. Threads have SP_EL1.
    __asm__ volatile("mov x9, sp\n\tmsr spsel, #1\n\tmov sp, x9" ::: "x9", "memory");
    set_vectors();
    __atomic_fetch_or(&online, 1u << here(), __ATOMIC_SEQ_CST);
    __asm__ volatile("dsb ish\n\tisb" ::: "memory");
    irq_enable(CALL_SGI);
    cpus[here()].joined =
        nopscope_join(irq_stack(), irq_stack() + CONFIG_ISR_STACK_SIZE) == NOPSCOPE_OK;
    create_interrupts();
    begin(argument);
}
#define START_CPU(name)                                                                   \
    void __real_##name(int, k_thread_stack_t*, int, arch_cpustart_t, void*);              \
    void __wrap_##name(int cpu, k_thread_stack_t* stack, int size, arch_cpustart_t begin, \
                       void* argument) {                                                  \
        begins_with = begin;                                                              \
        __real_##name(cpu, stack, size, started ? begin_core : begin, argument);          \
    }
#if KERNEL_VERSION_NUMBER >= 0x30600
START_CPU(arch_cpu_start)
#else
START_CPU(arch_start_cpu)
#endif

// On the new thread's stack, interrupts masked.
void __wrap_z_thread_mark_switched_in(void) {
    const struct cpu* const cpu = &cpus[here()];
    if (cpu->joined) go_to(context_of(arch_curr_cpu()->current), cpu->why);
}

k_tid_t __real_z_impl_k_thread_create(struct k_thread*, k_thread_stack_t*, size_t, k_thread_entry_t,
                                      void*, void*, void*, int, uint32_t, k_timeout_t);
k_tid_t __wrap_z_impl_k_thread_create(struct k_thread* thread, k_thread_stack_t* stack, size_t size,
                                      k_thread_entry_t entry, void* p1, void* p2, void* p3,
                                      int priority, uint32_t options, k_timeout_t delay) {
    forget(thread);
    return __real_z_impl_k_thread_create(thread, stack, size, entry, p1, p2, p3, priority, options,
                                         delay);
}
int __real_z_impl_k_thread_name_set(struct k_thread*, const char*);
int __wrap_z_impl_k_thread_name_set(struct k_thread* thread, const char* name) {
    struct k_thread* const named = thread != NULL ? thread : k_current_get();
    const unsigned key = lock_names();
    const int result = __real_z_impl_k_thread_name_set(thread, name);
    struct thread* const own = find(named);
    const struct nopscope_context_facts facts = facts_of(named);
    if (own != NULL) nopscope_context_describe(&own->context, &facts);
    unlock_names(key);
    return result;
}
void __real_z_impl_k_yield(void);
void __wrap_z_impl_k_yield(void) {
    struct thread* const own = find(k_current_get());
    if (own != NULL) own->yields = true;
    __real_z_impl_k_yield();
    if (own != NULL) own->yields = false;
}

// ---- interrupts ----

// Interrupts are masked. In Zephyr 3.7 SP is on the core's stack for interrupts, here and at the
// end, too; in 3.0 it is on the thread's.
void __wrap_sys_trace_isr_enter(void) {
    struct cpu* const cpu = &cpus[here()];
    const uint32_t depth = cpu->depth;
    if (depth == DEEPEST) k_panic();
    __asm__ volatile("mrs %0, elr_el1" : "=r"(cpu->pc[depth]));
    cpu->depth = depth + 1;
    const uint64_t sp = (uint64_t)__builtin_frame_address(0);
    if (depth != 0 || !cpu->joined || sp - irq_stack() >= CONFIG_ISR_STACK_SIZE) return;
    cpu->interrupted = context_of(arch_curr_cpu()->current);
    go_to(&cpu->interrupts, NOPSCOPE_SWITCH_REASON_UNKNOWN);
}
unsigned __real_arm_gic_get_active(void);
unsigned __wrap_arm_gic_get_active(void) {
    struct cpu* const cpu = &cpus[here()];
    const unsigned number = __real_arm_gic_get_active();
    cpu->begun[cpu->depth - 1] = nopscope_interrupt_begin(number);
    return number;
}
void __wrap_sys_trace_isr_exit(void) {
    struct cpu* const cpu = &cpus[here()];
    nopscope_interrupt_end(cpu->begun[--cpu->depth]);
    if (cpu->depth != 0 || cpu->interrupted == NULL) return;
    go_to(cpu->interrupted, NOPSCOPE_SWITCH_REASON_UNKNOWN);
    cpu->interrupted = NULL;
}

static const volatile uint32_t* depth_of(unsigned core) { return &cpus[core].depth; }
static uint64_t interrupted_pc(void) { return cpus[here()].pc[0]; }

// ---- calls to the other cores ----

static struct {
    bool in_use;
    nopscope_core_call call;
    void* argument;
    uint32_t unclaimed, unfinished;  // a bit for each core
} request;

static void answer(uint64_t pc, unsigned depth) {
    const uint32_t mine = 1u << here();
    if ((__atomic_fetch_and(&request.unclaimed, ~mine, __ATOMIC_SEQ_CST) & mine) == 0) return;
    __asm__ volatile("isb");
    const struct nopscope_interrupted at = {.core = here(), .pc = pc, .depth = depth};
    if (request.call != NULL) request.call(request.argument, &at);
    __atomic_fetch_and(&request.unfinished, ~mine, __ATOMIC_SEQ_CST);
}
static void take_call(const void* unused) {
    (void)unused;
    const unsigned key = arch_irq_lock();
    const struct cpu* const cpu = &cpus[here()];
    answer(cpu->pc[cpu->depth - 1], cpu->depth - 1);
    arch_irq_unlock(key);
}
static uint64_t now(void) {
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
static uint64_t clock_hz(void) {
    uint64_t hz;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz;
}
static uint32_t online_cores(void) { return online; }
static bool call_others(nopscope_core_call call, void* argument) {
    const uint64_t pc = (uint64_t)__builtin_return_address(0);
    const unsigned key = arch_irq_lock();
    while (__atomic_exchange_n(&request.in_use, true, __ATOMIC_SEQ_CST))
        answer(pc, cpus[here()].depth);
    __asm__ volatile("dsb ish" ::: "memory");
    const uint32_t others = online & ~(1u << here());
    request.call = call;
    request.argument = argument;
    __atomic_store_n(&request.unfinished, others, __ATOMIC_SEQ_CST);
    __atomic_store_n(&request.unclaimed, others, __ATOMIC_SEQ_CST);
    if (others != 0) gic_raise_sgi(CALL_SGI, 0, (uint16_t)others);
    bool all_came = true;
    for (const uint64_t limit = now() + clock_hz();
         __atomic_load_n(&request.unfinished, __ATOMIC_SEQ_CST) != 0;) {
        if (!all_came || now() < limit) continue;
        const uint32_t late = __atomic_exchange_n(&request.unclaimed, 0, __ATOMIC_SEQ_CST);
        __atomic_fetch_and(&request.unfinished, ~late, __ATOMIC_SEQ_CST);
        all_came = late == 0;
    }
    __atomic_store_n(&request.in_use, false, __ATOMIC_SEQ_CST);
    arch_irq_unlock(key);
    return all_came;
}

// ---- start ----

static bool try_write(uint8_t byte) {
    uart_poll_out(line, byte);
    return true;
}
static bool try_read(uint8_t* byte) { return uart_poll_in(line, byte) == 0; }
static int print(int c) {
    const char byte = (char)c;
    nopscope_console_write(&byte, 1);
    return c;
}

static int start(void) {
    static struct nopscope_machine machine = {.online_cores = online_cores,
                                              .run_on_other_cores = call_others};
    uint8_t* alias;
    const size_t bytes = (size_t)(__text_region_end - __text_region_start);
#if KERNEL_VERSION_NUMBER >= 0x30600
    k_mem_map_phys_bare(&alias, (uintptr_t)__text_region_start, bytes,
                        K_MEM_CACHE_WB | K_MEM_PERM_RW);
#else
    z_phys_map(&alias, (uintptr_t)__text_region_start, bytes, K_MEM_CACHE_WB | K_MEM_PERM_RW);
#endif
    machine.text_alias = (char*)alias - __text_region_start;
    const struct k_thread* const self = arch_curr_cpu()->current;
    const struct nopscope_config config = {
        .image = "zephyr",
        .board = CONFIG_BOARD,
        .clock_hz = clock_hz(),
        .cores = CORES,
        .machine = &machine,
        .try_write = try_write,
        .try_read = try_read,
        .interrupted_pc = interrupted_pc,
        .interrupt_depth = depth_of,
        .stack_low = self->stack_info.start,
        .stack_high = self->stack_info.start + self->stack_info.size,
        .mode = NOPSCOPE_LOSSLESS};
    set_vectors();
    IRQ_CONNECT(CALL_SGI, 0, take_call, NULL, 0);
    irq_enable(CALL_SGI);
    online = 1u << here();
    uart_poll_out(line, 0);  // ends what Zephyr has printed: the next frame is not a part of it
    const enum nopscope_status status = nopscope_init(&config);
    if (status != NOPSCOPE_OK) {
        printk("nopscope: %s\n", nopscope_describe(status));
        return 0;
    }
    create_interrupts();
    const unsigned key = arch_irq_lock();
    started = cpus[here()].joined = true;
    go_to(context_of(arch_curr_cpu()->current), NOPSCOPE_SWITCH_REASON_UNKNOWN);
    arch_irq_unlock(key);
    __printk_hook_install(print);
    nopscope_enable(NOPSCOPE_GRAPH, nopscope_all());
    return 0;
}
#if __has_include(<zephyr/kernel.h>)
SYS_INIT(start, APPLICATION, 0);
#else
static int start_3_0(const struct device* unused) {
    (void)unused;
    return start();
}
SYS_INIT(start_3_0, APPLICATION, 0);
#endif

static void pump(void* p1, void* p2, void* p3) {
    (void)p1, (void)p2, (void)p3;
    for (;;) {
        nopscope_pump();
        k_sleep(K_MSEC(1));
    }
}
K_THREAD_DEFINE(nopscope_pump_thread, 8192, pump, NULL, NULL, NULL, NOPSCOPE_ZEPHYR_PUMP_PRIORITY,
                0, 0);
