// SPDX-License-Identifier: Apache-2.0
#include "kernel.hpp"

#include "nopscope/interrupts.hpp"
#include "switch.hpp"

#include <cstddef>

namespace hal = nopscope::hal;

namespace kernel {

static_assert(static_cast<unsigned>(Count::preempted) ==
                  static_cast<unsigned>(nopscope::SwitchReason::preempted) &&
              static_cast<unsigned>(Count::ended) ==
                  static_cast<unsigned>(nopscope::SwitchReason::ended));

namespace {

constexpr unsigned wake_sgi = 0;
constexpr unsigned interrupt_priority = 8;

// A core's stack for interrupts, with a context of its own.
struct InterruptStack {
    nopscope::Context context;
    nopscope::ContextFrame frames[32];
    alignas(16) unsigned char stack[4096] = {};
    void (*handler)(unsigned interrupt) = nullptr;  // null: no interrupt uses this stack now
};
constinit InterruptStack interrupt_stacks[max_cores];

struct alignas(64) Core {
    Task* running = nullptr;  // null: run() has not been called here
    TaskList ready;
    TaskList sleeping;
    Task idle;
    unsigned tasks = 0;  // that have not ended
    std::uint64_t slice_end = 0;
    std::uint64_t counted[counts] = {};
};
constinit Core cores[max_cores];
unsigned is_locked;
std::uint64_t slice_ticks;
void (*each_tick)();
bool has_interrupt_stacks;

Core& here() { return cores[hal::this_core()]; }

void lock_kernel() {
    while (__atomic_exchange_n(&is_locked, 1, __ATOMIC_ACQUIRE) != 0) hal::yield();
}
void unlock_kernel() { __atomic_store_n(&is_locked, 0, __ATOMIC_RELEASE); }

class KernelLock {
public:
    KernelLock() { lock_kernel(); }
    ~KernelLock() { unlock_kernel(); }
    KernelLock(const KernelLock&) = delete;
    KernelLock& operator=(const KernelLock&) = delete;

private:
    hal::InterruptsMasked masked_;
};

void count(Count what) {
    std::uint64_t& counter = here().counted[static_cast<unsigned>(what)];
    __atomic_store_n(&counter, counter + 1, __ATOMIC_RELAXED);
}

using nopscope::ContextEvent;
using nopscope::SwitchReason;

void tell_ready(const Task& task) {
    count(Count::ready);
    // nopscope: so the host knows how long the task waits for a core
    nopscope::context_event(ContextEvent::ready, task.context.number);
}
void tell(Count what, ContextEvent event, const void* object) {
    count(what);
    // nopscope: an object's number is its address
    nopscope::context_event(event, reinterpret_cast<std::uintptr_t>(object));
}
void tell_takes(const void* object) { tell(Count::takes, ContextEvent::takes, object); }
void tell_gives(const void* object) { tell(Count::gives, ContextEvent::gives, object); }
void tell_waits(const void* object) { tell(Count::waits, ContextEvent::waits, object); }

// The timer's next interrupt: the running task's slice ends, or a sleeping task wakes.
void arm_timer(const Core& core) {
    const Task* const sleeper = core.sleeping.first();
    const bool wakes_first = sleeper != nullptr && sleeper->wakes_at < core.slice_end;
    hal::timer_arm(wakes_first ? sleeper->wakes_at : core.slice_end);
}

// nopscope: right before the stacks are switched or right behind it, with interrupts masked.
// Inline: no traced call may come in between.
[[gnu::always_inline]] inline void switch_context(nopscope::Context& to,
                                                  SwitchReason why = SwitchReason::unknown) {
    if (nopscope::context_switch(to, why) != nopscope::Status::ok) hal::panic("kernel: no switch");
}

// The kernel's lock is held. Gives this core to its first ready task, and returns when the caller
// runs again, with the lock held again.
void switch_away(SwitchReason why) {
    Core& core = here();
    Task* const from = core.running;
    Task* const to = core.ready.take_first();
    to->state = State::running;
    core.running = to;
    core.slice_end = hal::clock() + slice_ticks;
    arm_timer(core);
    if (to == from) return;
    count(Count::switches);
    count(static_cast<Count>(why));
    switch_context(*to->runs_in, why);
    switch_stacks(&from->sp, to->sp);
    // `core` may be another core's from here on.
}

void notify(const Task& task) {
    const Core& core = cores[task.core];
    if (task.core != hal::this_core() && core.running != nullptr &&
        task.priority > core.running->priority)
        hal::raise_interrupt_on(task.core, wake_sgi);
}

// The next core that runs tasks, maybe this one.
unsigned next_core() {
    unsigned next = hal::this_core();
    do {
        next = (next + 1) % max_cores;
    } while (cores[next].running == nullptr);
    return next;
}
void move_to(Task& task, unsigned core) {
    if (core == task.core) return;
    count(Count::moves);
    --cores[task.core].tasks;
    ++cores[core].tasks;
    task.core = core;
}

enum class Turn : std::uint8_t { goes_on, over };  // of the running task, among its equals
void give_way(Turn turn, SwitchReason why) {
    Task& self = *here().running;
    self.state = State::ready;
    if (self.moves && turn == Turn::over) move_to(self, next_core());
    cores[self.core].ready.insert(self, turn == Turn::goes_on);
    notify(self);
    switch_away(why);
}

bool is_preempted(const Core& core, bool slice_over) {
    const Task* const next = core.ready.first();
    if (next == nullptr) return false;
    return next->priority + (slice_over ? 1 : 0) > core.running->priority;
}
void give_way_if_preempted() {
    if (is_preempted(here(), false)) give_way(Turn::goes_on, SwitchReason::preempted);
}

void make_ready(Task& task) {
    task.state = State::ready;
    cores[task.core].ready.insert(task);
    tell_ready(task);
    notify(task);
}
void make_first_ready(TaskList& waiting) {
    if (Task* const task = waiting.take_first(); task != nullptr) make_ready(*task);
}
void wait_in(TaskList& list) {
    Task& self = *here().running;
    self.state = State::waiting;
    list.insert(self);
    switch_away(SwitchReason::blocked);
}
void wake_sleepers(Core& core) {
    const std::uint64_t now = hal::clock();
    while (core.sleeping.first() != nullptr && core.sleeping.first()->wakes_at <= now)
        make_ready(*core.sleeping.take_first());
}

void set_priority(Task& task, unsigned priority) {
    task.priority = priority;
    if (task.list == nullptr || task.by_time) return;
    TaskList& list = *task.list;
    list.remove(task);
    list.insert(task);
    if (task.state == State::ready) notify(task);
}
// A task of that priority waits for `mutex`.
void inherit(const Mutex* mutex, unsigned priority) {
    while (mutex != nullptr && mutex->owner->priority < priority) {
        set_priority(*mutex->owner, priority);
        mutex = mutex->owner->waits_for;
    }
}
unsigned inherited_priority(const Task& task) {
    unsigned priority = task.base_priority;
    for (const Mutex* mutex = task.held; mutex != nullptr; mutex = mutex->next_held) {
        const Task* const first = mutex->waiting.first();
        if (first != nullptr && first->priority > priority) priority = first->priority;
    }
    return priority;
}
void give_mutex(Mutex& mutex, Task* owner) {
    mutex.owner = owner;
    if (owner == nullptr) return;
    owner->waits_for = nullptr;
    mutex.next_held = owner->held;
    owner->held = &mutex;
}
void forget_held(Task& task, Mutex& mutex) {
    Mutex** link = &task.held;
    while (*link != &mutex) link = &(*link)->next_held;
    *link = mutex.next_held;
}

void create_interrupt_stack(InterruptStack& own) {
    const auto low = reinterpret_cast<std::uintptr_t>(own.stack);
    // nopscope: before the core's first interrupt
    const nopscope::Status status =
        nopscope::context_create(own.context, own.frames, low, low + sizeof own.stack,
                                 {.name = "interrupts", .interrupts = true});
    if (status != nopscope::Status::ok) hal::panic(nopscope::describe(status));
}
// On the core's stack for interrupts, interrupts masked.
void call_handler(unsigned interrupt) {
    hal::enable_interrupts();
    interrupt_stacks[hal::this_core()].handler(interrupt);
    hal::disable_interrupts();
}
// In an interrupt, interrupts unmasked: the core stays the same. One that comes meanwhile stays on
// the same stack.
void handle(void (*handler)(unsigned interrupt), unsigned interrupt) {
    InterruptStack& own = interrupt_stacks[hal::this_core()];
    const Task* const running = here().running;
    if (!has_interrupt_stacks || own.handler != nullptr || running == nullptr)
        return handler(interrupt);
    const hal::InterruptsMasked masked;
    own.handler = handler;
    count(Count::on_interrupt_stacks);
    switch_context(own.context);
    call_on_stack(reinterpret_cast<std::uintptr_t>(own.stack) + sizeof own.stack - 16, call_handler,
                  interrupt);
    switch_context(*running->runs_in);
    own.handler = nullptr;
}

// In the timer's interrupt, interrupts unmasked. preempt() arms the timer again.
void handle_tick(unsigned) {
    hal::timer_disarm();
    if (each_tick != nullptr) each_tick();
}
void tick(unsigned interrupt) { handle(handle_tick, interrupt); }
void be_woken(unsigned) { asm volatile(""); }

// At an interrupt's end (hal::set_after_interrupt), on the interrupted task's stack.
void preempt() {
    if (here().running == nullptr) return;
    {
        const KernelLock locked;
        Core& core = here();
        wake_sleepers(core);
        const bool slice_over = hal::clock() >= core.slice_end;
        if (is_preempted(core, slice_over)) {
            count(Count::by_interrupts);
            give_way(slice_over ? Turn::over : Turn::goes_on, SwitchReason::preempted);
        } else {
            if (slice_over) core.slice_end = hal::clock() + slice_ticks;
            arm_timer(core);
        }
    }
    nopscope::interrupts_unmasked();  // nopscope: the return from the interrupt unmasks them
}

[[noreturn]] void end() {
    hal::disable_interrupts();
    lock_kernel();
    Core& core = here();
    core.running->state = State::ended;
    --core.tasks;
    switch_away(SwitchReason::ended);
    hal::panic("kernel: an ended task runs");
}

// A task's first function. switch_away() has left the lock to it.
[[noreturn]] void begin() {
    const Task& self = *here().running;
    unlock_kernel();
    hal::enable_interrupts();
    self.function(self.argument);
    end();
}

// False: tasks are left. Otherwise no task moves to this core any more.
bool leave() {
    const KernelLock locked;
    Core& core = here();
    if (core.tasks == 0) core.running = nullptr;
    return core.running == nullptr;
}

}  // namespace

void TaskList::insert_at(Task** link, Task& task) {
    task.next = *link;
    *link = &task;
    task.list = this;
}
void TaskList::insert(Task& task, bool before_equals) {
    Task** link = &first_;
    while (*link != nullptr && (*link)->priority + (before_equals ? 0 : 1) > task.priority)
        link = &(*link)->next;
    task.by_time = false;
    insert_at(link, task);
}
void TaskList::insert_by_time(Task& task) {
    Task** link = &first_;
    while (*link != nullptr && (*link)->wakes_at <= task.wakes_at) link = &(*link)->next;
    task.by_time = true;
    insert_at(link, task);
}
void TaskList::remove(Task& task) {
    Task** link = &first_;
    while (*link != &task) link = &(*link)->next;
    *link = task.next;
    task.list = nullptr;
}
Task* TaskList::take_first() {
    Task* const task = first_;
    if (task != nullptr) remove(*task);
    return task;
}

void start(std::uint64_t slice, void (*on_tick)(), Interrupts interrupts) {
    slice_ticks = slice;
    each_tick = on_tick;
    has_interrupt_stacks = interrupts == Interrupts::on_their_stack;
    hal::set_after_interrupt(preempt);
}

void run(void (*idle)()) {
    {
        const KernelLock locked;
        Core& core = here();
        core.idle.runs_in = &nopscope::main_context();  // nopscope: this stack's context
        nopscope::context_describe(nopscope::main_context(), {.name = "idle"});
        core.idle.core = hal::this_core();
        core.idle.state = State::running;
        core.running = &core.idle;
        core.slice_end = hal::clock();
    }
    if (has_interrupt_stacks) create_interrupt_stack(interrupt_stacks[hal::this_core()]);
    hal::set_handler(wake_sgi, interrupt_priority, be_woken);
    hal::set_handler(hal::timer_interrupt, interrupt_priority, tick);
    hal::timer_arm(hal::clock());
    hal::enable_interrupts();
    while (!leave()) idle();
    hal::disable_interrupts();
    hal::timer_disarm();
}

void create(Task& task, const char* name, void (*function)(std::uint64_t), std::uint64_t argument,
            unsigned priority, unsigned core, Place place) {
    const auto low = reinterpret_cast<std::uintptr_t>(task.stack);
    // nopscope: before the task runs
    const nopscope::Status status =
        nopscope::context_create(task.context, task.frames, low, low + sizeof task.stack,
                                 {.name = name,
                                  .priority = priority,
                                  .id = reinterpret_cast<std::uintptr_t>(&task),
                                  .interrupts = false});
    if (status != nopscope::Status::ok) hal::panic(nopscope::describe(status));
    task.sp = first_sp(task.stack, begin);
    task.runs_in = &task.context;
    task.function = function;
    task.argument = argument;
    task.core = core;
    task.moves = place == Place::moves;
    task.priority = task.base_priority = priority;
    const KernelLock locked;
    ++cores[core].tasks;
    make_ready(task);
    if (here().running != nullptr) give_way_if_preempted();
}

void destroy(Task& task) {
    const KernelLock locked;
    if (task.state == State::running || task.state == State::unused || task.held != nullptr)
        hal::panic("kernel: this task cannot be destroyed");
    if (task.list != nullptr) task.list->remove(task);
    if (task.state != State::ended) --cores[task.core].tasks;
    task.waits_for = nullptr;
    task.state = State::unused;
    // nopscope: on any core. The context then may be created again.
    if (nopscope::context_destroy(task.context) != nopscope::Status::ok)
        hal::panic("kernel: a context is busy");
}

bool is_waiting(Task& task) {
    const KernelLock locked;
    return task.state == State::waiting || task.state == State::ended;
}

void yield() {
    const KernelLock locked;
    give_way(Turn::over, SwitchReason::gave_way);
}

void sleep_until(std::uint64_t at) {
    const KernelLock locked;
    Core& core = here();
    core.running->wakes_at = at;
    core.running->state = State::waiting;
    core.sleeping.insert_by_time(*core.running);
    switch_away(SwitchReason::blocked);
}

void lock(Mutex& mutex) {
    const KernelLock locked;
    Task& self = *here().running;
    if (mutex.owner == nullptr) {
        give_mutex(mutex, &self);
    } else {
        self.waits_for = &mutex;
        inherit(&mutex, self.priority);
        tell_waits(&mutex);
        wait_in(mutex.waiting);  // unlock() makes it the owner
    }
    tell_takes(&mutex);
}

void unlock(Mutex& mutex) {
    const KernelLock locked;
    Task& self = *here().running;
    forget_held(self, mutex);
    tell_gives(&mutex);
    Task* const next = mutex.waiting.take_first();
    give_mutex(mutex, next);
    if (next != nullptr) make_ready(*next);
    self.priority = inherited_priority(self);
    give_way_if_preempted();
}

void put(Queue& queue, std::uint64_t value) {
    const KernelLock locked;
    while (queue.count == queue.slots.size()) {
        tell_waits(&queue);
        wait_in(queue.putting);
    }
    queue.slots[(queue.first + queue.count++) % queue.slots.size()] = value;
    tell_gives(&queue);
    make_first_ready(queue.taking);
    give_way_if_preempted();
}

std::uint64_t take(Queue& queue) {
    const KernelLock locked;
    while (queue.count == 0) {
        tell_waits(&queue);
        wait_in(queue.taking);
    }
    const std::uint64_t value = queue.slots[queue.first];
    tell_takes(&queue);
    queue.first = (queue.first + 1) % queue.slots.size();
    --queue.count;
    make_first_ready(queue.putting);
    give_way_if_preempted();
    return value;
}

unsigned priority() {
    const KernelLock locked;
    return here().running->priority;
}

std::uint64_t counted(Count what) {
    std::uint64_t all = 0;
    for (const Core& core : cores)
        all += __atomic_load_n(&core.counted[static_cast<unsigned>(what)], __ATOMIC_RELAXED);
    return all;
}

}  // namespace kernel
