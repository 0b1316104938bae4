// SPDX-License-Identifier: Apache-2.0
// A small preemptive kernel, as the pattern for an RTOS that tells nopscope of its tasks.
//
// Each core runs its ready task of the highest priority; equals take turns by time slices.
// Interrupts switch tasks at their end. A task stays on the core that create() gave it, or it moves
// to the next core whenever its slice is over.
//
// One lock keeps all of the kernel's state. The core that holds it has interrupts masked. A task
// that gives way leaves the lock to the task that runs next, which unlocks. So nobody sees a task
// in a list before its registers are saved.
//
// The glue to nopscope is marked "nopscope:" in kernel.cpp. Nothing there keeps a core, or anything
// of a core, over switch_away(): the task could go on on another core.
#pragma once

#include "hal/hal.hpp"
#include "nopscope/contexts.hpp"

#include <cstdint>
#include <span>

namespace kernel {

struct Task;

// Tasks that wait for the same. A task is in one list at most.
class TaskList {
public:
    Task* first() const { return first_; }
    // Orders by priority, the highest first. `before_equals`: in front of those of the same.
    void insert(Task& task, bool before_equals = false);
    // Orders by Task::wakes_at.
    void insert_by_time(Task& task);
    void remove(Task& task);
    Task* take_first();

private:
    void insert_at(Task** link, Task& task);
    Task* first_ = nullptr;
};

// Locked by one task at a time. While a task waits for it, the owner has at least the waiting
// task's priority.
struct Mutex {
    Task* owner = nullptr;
    TaskList waiting;
    Mutex* next_held = nullptr;  // the next that the owner holds
};

// A bounded queue. `slots` must outlive it.
struct Queue {
    explicit constexpr Queue(std::span<std::uint64_t> storage) : slots(storage) {}
    std::span<std::uint64_t> slots;
    std::size_t first = 0;
    std::size_t count = 0;
    TaskList putting;  // tasks that wait for room
    TaskList taking;   // tasks that wait for a value
};

enum class State : std::uint8_t { unused, ready, running, waiting, ended };

// All of a task, in static storage. The kernel writes the fields.
struct Task {
    nopscope::Context context;
    nopscope::ContextFrame frames[64];
    alignas(16) unsigned char stack[8192] = {};
    nopscope::Context* runs_in = nullptr;  // `context`, or a core's main context
    std::uint64_t sp = 0;                  // while it does not run
    void (*function)(std::uint64_t argument) = nullptr;
    std::uint64_t argument = 0;
    unsigned core = 0;
    bool moves = false;
    unsigned base_priority = 0;
    unsigned priority = 0;  // that, or what it has inherited
    State state = State::unused;
    std::uint64_t wakes_at = 0;  // clock
    TaskList* list = nullptr;    // the list that it is in
    bool by_time = false;        // that list is ordered by time
    Task* next = nullptr;        // in that list
    Mutex* waits_for = nullptr;
    Mutex* held = nullptr;
};

inline constexpr unsigned max_cores = 4;
inline constexpr unsigned highest_priority = 7;  // 0 is the idle tasks'

// Where the timer's interrupts are handled. `on_their_stack`: each core has one for them.
enum class Interrupts : std::uint8_t { on_the_task_s_stack, on_their_stack };
// Boot core, before run(). `slice`: ticks of hal::clock(). `on_tick`: called in each of the timer's
// interrupts; may be null.
void start(std::uint64_t slice, void (*on_tick)(), Interrupts interrupts);
// Makes the caller its core's idle task: thread context, interrupts masked, on a core that has
// joined the tracer. It calls `idle` again and again, and returns when this core has no task that
// has not ended. Interrupts are masked then.
void run(void (*idle)());

// Makes an unused or deleted `task` ready: function(argument) with a priority of 1 to
// highest_priority. A task, or thread context before run(). `name` is for people.
enum class Place : std::uint8_t { stays, moves };
void create(Task& task, const char* name, void (*function)(std::uint64_t), std::uint64_t argument,
            unsigned priority, unsigned core, Place place = Place::stays);
// Takes a task out of the kernel, unless it runs. It must not hold a mutex. Its stack and context
// are then free for create(). A task, or thread context after run().
void destroy(Task& task);
// True: the task waits, or has ended. Its calls are then those that it made itself.
bool is_waiting(Task& task);

// The following are for tasks.

// Lets ready tasks of the same priority run first.
void yield();
// Waits until hal::clock() >= at.
void sleep_until(std::uint64_t at);
void lock(Mutex& mutex);
void unlock(Mutex& mutex);
void put(Queue& queue, std::uint64_t value);
std::uint64_t take(Queue& queue);
// The running task's, with what it has inherited.
unsigned priority();

// What cores have counted: changes from one task to another, and how the first one was left; those
// that an interrupt did; moves to another core; how often a task became ready, and took, gave or
// had to wait for a mutex or a value; how often an interrupt used its own stack.
enum class Count : std::uint8_t {
    switches,
    preempted,
    blocked,
    gave_way,
    ended,
    by_interrupts,
    moves,
    ready,
    takes,
    gives,
    waits,
    on_interrupt_stacks,
};
inline constexpr unsigned counts = 12;
// The sum of all cores. Any context.
std::uint64_t counted(Count what);

}  // namespace kernel
