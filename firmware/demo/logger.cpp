// SPDX-License-Identifier: Apache-2.0
#include "logger.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "hal/hal.hpp"
#include "nopscope/contexts.hpp"
#include "nopscope/nopscope.hpp"
#include "tasks.hpp"

namespace logger {

namespace {

namespace hal = nopscope::hal;
using nopscope::ContextEvent;

constexpr std::size_t longest_line = 160;
constexpr std::size_t queue_lines = 16;

constinit tasks::Task task;
std::atomic<unsigned> writers;  // that have not called done()

struct Queue {
    char lines[queue_lines][longest_line];
    std::size_t first;
    std::size_t count;
    std::atomic_flag is_locked;
};
Queue queue;

class QueueLock {
public:
    QueueLock() {
        while (queue.is_locked.test_and_set(std::memory_order_acquire)) hal::yield();
    }
    ~QueueLock() { queue.is_locked.clear(std::memory_order_release); }
    QueueLock(const QueueLock&) = delete;
    QueueLock& operator=(const QueueLock&) = delete;
};

void tell(ContextEvent event) {
    nopscope::context_event(event, reinterpret_cast<std::uintptr_t>(&queue));
}

bool try_put(const char* line) {
    const QueueLock locked;
    if (queue.count == queue_lines) return false;
    std::strncpy(queue.lines[(queue.first + queue.count) % queue_lines], line, longest_line - 1);
    ++queue.count;
    tell(ContextEvent::gives);
    return true;
}

bool try_take(char* line) {
    const QueueLock locked;
    if (queue.count == 0) return false;
    std::memcpy(line, queue.lines[queue.first], longest_line);
    queue.first = (queue.first + 1) % queue_lines;
    --queue.count;
    tell(ContextEvent::takes);
    return true;
}

// The task's function. Not traced, as what it waits in.
NOPSCOPE_NOTRACE void print_lines() {
    char line[longest_line];
    for (;;) {
        const bool is_last = writers.load(std::memory_order_acquire) == 0;
        while (try_take(line)) std::fputs(line, stdout);
        std::fflush(stdout);
        if (is_last) return;
        tasks::wait(&queue);
    }
}

}  // namespace

void start(unsigned count) {
    writers.store(count, std::memory_order_relaxed);
    nopscope::name_object(reinterpret_cast<std::uintptr_t>(&queue), "lines");
    tasks::create(task, "logger", 2, print_lines);
}

void put(const char* line) {
    while (!try_put(line)) {
        tasks::give_way();
        hal::yield();
    }
    tasks::wake(task);
}

void done() {
    writers.fetch_sub(1, std::memory_order_release);
    tasks::wake(task);
}

}  // namespace logger
