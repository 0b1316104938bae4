// SPDX-License-Identifier: Apache-2.0
// Sixteen tasks on each core, which use all of the kernel. Each checks what it can: a wrong result
// panics.
//
//   priority  tasks of a core
//   4         urgent: wakes often and takes the mutex
//   3         consumer: takes what another core's producer puts; parent: creates and destroys
//             `child` again and again
//   2         producer; child; ten workers, which share the cores by time slices, and move
//   1         holder: keeps the mutex for long, so that workers preempt it, and `urgent` waits for
//             it; pumper, and on core 0 detacher, if the words ask for them
#include "kernel.hpp"
#include "nopscope/nopscope.hpp"
#include "workloads.hpp"

#include <stdio.h>

namespace hal = nopscope::hal;
using kernel::Count;
using kernel::max_cores;
using kernel::Task;

namespace {

constexpr unsigned workers = 10, deepest = 24;
constexpr std::uint64_t last_value = 0;

struct CoreTasks {
    Task urgent, consumer, parent, producer, child, holder, pumper, detacher, worker[workers];
};
constinit CoreTasks tasks[max_cores];
Preemptive words;

kernel::Mutex mutex;
bool taken;             // under the mutex
unsigned inheritances;  // under the mutex
std::uint64_t storage[max_cores][4];
kernel::Queue queues[max_cores] = {kernel::Queue(storage[0]), kernel::Queue(storage[1]),
                                   kernel::Queue(storage[2]), kernel::Queue(storage[3])};
unsigned children[max_cores];
unsigned detaches, timeouts;
unsigned cores_over;  // without tasks
unsigned cores_done;

bool is_over() {
    return kernel::counted(Count::switches) >= words.switches &&
           __atomic_load_n(&detaches, __ATOMIC_RELAXED) >= words.detaches;
}

[[gnu::noinline]] void wait_us(std::uint64_t us) {
    kernel::sleep_until(hal::clock() + us * hal::clock_hz() / 1'000'000);
    asm volatile("");
}

[[gnu::noinline]] void spin(unsigned turns) {
    for (unsigned i = 0; i < turns; ++i) asm volatile("");
}
[[gnu::noipa]] std::uint64_t descend(std::uint64_t depth) {
    spin(10);
    if (depth == 0) return 0;
    const std::uint64_t below = descend(depth - 1);
    asm volatile("");  // not a loop
    return below + 1;
}
void compute(std::uint64_t depth) {
    if (descend(depth) != depth) hal::panic("tasks: a call went wrong");
}

// What the tasks do with the mutex; the lowest task keeps it longest.
void use_mutex(unsigned turns) {
    kernel::lock(mutex);
    const unsigned before = kernel::priority();
    if (taken) hal::panic("tasks: two tasks have the mutex");
    taken = true;
    for (unsigned i = 0; i < turns; ++i) compute(i % deepest);
    taken = false;
    if (kernel::priority() > before) ++inheritances;
    kernel::unlock(mutex);
}

// All workers begin at the same time. Meanwhile no task of lower priority runs, and a ring is full
// more than once.
void worker(std::uint64_t number) {
    const std::uint64_t beat = hal::clock_hz() / 250;
    for (std::uint64_t round = number; !is_over(); ++round) {
        compute(round * 7 % deepest);
        if (round % 12 == 0) kernel::yield();
        if (round % 48 == 0) kernel::sleep_until((hal::clock() / beat + 1) * beat);
    }
}
void urgent(std::uint64_t) {
    while (!is_over()) {
        wait_us(150);
        use_mutex(1);
    }
}
void holder(std::uint64_t) {
    while (!is_over()) {
        use_mutex(20);
        for (unsigned i = 0; i < 60; ++i) compute(i % deepest);
        wait_us(50);
    }
}
void producer(std::uint64_t number) {
    for (std::uint64_t value = 1; !is_over(); ++value) {
        compute(value % 5);
        kernel::put(queues[number], value);
        if (value % 8 == 0) wait_us(100);
    }
    kernel::put(queues[number], last_value);
}
void consumer(std::uint64_t number) {
    for (std::uint64_t expected = 1;; ++expected) {
        const std::uint64_t value = kernel::take(queues[number]);
        if (value == last_value) return;
        if (value != expected) hal::panic("tasks: a queue's values are out of order");
        compute(value % 3);
    }
}
// An even child ends. An odd one waits in the middle of its calls, until it is destroyed.
void child(std::uint64_t number) {
    compute(number % deepest);
    if (number % 2 == 1) kernel::sleep_until(~std::uint64_t{0});
}
void parent(std::uint64_t core) {
    Task& task = tasks[core].child;
    while (!is_over()) {
        kernel::create(task, "child", child, children[core]++, 2, static_cast<unsigned>(core));
        do {
            wait_us(100);
        } while (!kernel::is_waiting(task));
        kernel::destroy(task);
    }
}
void pumper(std::uint64_t) {
    while (!is_over()) {
        nopscope::pump();
        kernel::yield();
    }
}
void detacher(std::uint64_t) {
    const void* const functions[] = {reinterpret_cast<const void*>(descend),
                                     reinterpret_cast<const void*>(compute),
                                     reinterpret_cast<const void*>(kernel::yield)};
    while (detaches != words.detaches) {
        timeouts += attach_and_detach(detaches, functions);
        __atomic_store_n(&detaches, detaches + 1, __ATOMIC_RELAXED);
        kernel::yield();
    }
}

void idle() {
    if (words.pumps != Pumps::recorders) nopscope::pump();
    hal::wait_for_interrupt();
}

bool detaches_on(unsigned core) { return core == 0 && words.detaches != 0; }
void create_tasks(unsigned core) {
    CoreTasks& own = tasks[core];
    kernel::create(own.urgent, "urgent", urgent, 0, 4, core);
    kernel::create(own.consumer, "consumer", consumer, (core + 1) % words.cores, 3, core);
    kernel::create(own.parent, "parent", parent, core, 3, core);
    kernel::create(own.producer, "producer", producer, core, 2, core);
    kernel::create(own.holder, "holder", holder, 0, 1, core);
    if (words.pumps == Pumps::task) kernel::create(own.pumper, "pumper", pumper, 0, 1, core);
    if (detaches_on(core)) kernel::create(own.detacher, "detacher", detacher, 0, 1, core);
    for (unsigned i = 0; i < workers; ++i)
        kernel::create(own.worker[i], "worker", worker, i, 2, core, kernel::Place::moves);
}
void destroy_tasks(unsigned core) {
    CoreTasks& own = tasks[core];
    for (Task* const task : {&own.urgent, &own.consumer, &own.parent, &own.producer, &own.holder})
        kernel::destroy(*task);
    if (words.pumps == Pumps::task) kernel::destroy(own.pumper);
    if (detaches_on(core)) kernel::destroy(own.detacher);
    for (Task& task : own.worker) kernel::destroy(task);
}
void wait_for_cores(const unsigned& count, unsigned wanted) {
    while (__atomic_load_n(&count, __ATOMIC_ACQUIRE) < wanted) hal::yield();
}
void run_core(unsigned core) {
    create_tasks(core);
    kernel::run(idle);
    __atomic_fetch_add(&cores_over, 1, __ATOMIC_RELEASE);
    wait_for_cores(cores_over, words.cores);  // they may run tasks of this core
    destroy_tasks(core);
}

// It runs before the core has joined, so it is not traced.
NOPSCOPE_NOTRACE void begin_core(unsigned core) {
    const hal::StackBounds stack = hal::stack_bounds();
    if (nopscope::join(stack.low, stack.high) != nopscope::Status::ok) hal::panic("tasks: join");
    run_core(core);
    __atomic_fetch_add(&cores_done, 1, __ATOMIC_RELEASE);
}

void say(std::uint64_t count, const char* what) {
    printf("tasks: %llu %s\n", static_cast<unsigned long long>(count), what);
}
void report() {
    const nopscope::Counters counters = nopscope::counters();
    unsigned born = 0;
    for (const unsigned of : children) born += of;
    constexpr const char* names[] = {"switches", "preempted",   "blocked", "gave_way",
                                     "ended",    "preemptions", "moves",   "ready",
                                     "takes",    "gives",       "waits",   "interrupts"};
    for (unsigned what = 0; what < kernel::counts; ++what)
        say(kernel::counted(static_cast<Count>(what)), names[what]);
    say(born, "children");
    say(detaches, "detaches");
    say(timeouts, "timeouts");
    say(inheritances, "inheritances");
    say(counters.generated, "generated");
    say(counters.dropped, "dropped");
    say(counters.stray_returns, "stray_returns");
    say(counters.undeferred, "undeferred");
    say(counters.recursions, "recursions");
    say(counters.shadow_stack_full, "shadow_stack_full");
    say(counters.off_stack, "off_stack");
}

}  // namespace

void run_preemptive(const Preemptive& given) {
    words = given;
    if (words.cores > max_cores) hal::panic("tasks: cores=N: at most four");
    kernel::start(words.slice, words.pumps == Pumps::tick ? nopscope::pump : nullptr,
                  words.interrupts);
    nopscope::name_object(reinterpret_cast<std::uintptr_t>(&mutex), "results");
    for (unsigned core = 0; core < words.cores; ++core)
        nopscope::name_object(reinterpret_cast<std::uintptr_t>(&queues[core]), "values");
    if (words.recorder != nopscope::Recorder::none &&
        nopscope::enable(words.recorder, nopscope::Sites::all()) != nopscope::Status::ok)
        hal::panic("tasks: not enabled");
    for (unsigned core = 1; core < words.cores; ++core) {
        if (!hal::start_core(core, begin_core)) hal::panic("tasks: a core did not start");
    }
    run_core(0);
    hal::enable_interrupts();
    wait_for_cores(cores_done, words.cores - 1);
    if (nopscope::disable(nopscope::Sites::all()) != nopscope::Status::ok)
        hal::panic("tasks: disable");
    report();
    printf("tasks: done\n");
    fflush(stdout);
}
