// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/process_memory.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <new>

#include "host-tools/base/memory.hpp"

namespace nopscope::host {
namespace {

// More memory than any machine has.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 48;

// Bytes of private writable memory, which RLIMIT_DATA limits; 0: not known.
std::uint64_t data_bytes() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t pages[6] = {};
    for (std::uint64_t& count : pages) file >> count;
    return file ? pages[5] * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

void set_soft_limit(rlim_t bytes) {
    rlimit both{};
    if (getrlimit(RLIMIT_DATA, &both) != 0) return;
    both.rlim_cur = both.rlim_max == RLIM_INFINITY ? bytes : std::min(bytes, both.rlim_max);
    setrlimit(RLIMIT_DATA, &both);
}

// std::bad_alloc must reach main. Destructors on the way take memory, as a large JSON value's does.
constexpr std::uint64_t reserve_bytes = 32'000'000;
void give_up() {
    allow_memory(reserve_bytes);
    throw std::bad_alloc();
}

constexpr bool has_sanitizer() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#elif defined(__has_feature)
    return __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
    return false;
#endif
}

}  // namespace

void limit_memory(std::uint64_t bytes) {
    limit_budgets(bytes);
    const std::uint64_t now = data_bytes();
    if (now == 0 || has_sanitizer()) return;
    set_soft_limit(now + bytes);
    std::set_new_handler(give_up);
}

void allow_memory(std::uint64_t bytes) {
    rlimit both{};
    if (getrlimit(RLIMIT_DATA, &both) != 0 || both.rlim_cur == RLIM_INFINITY) return;
    set_soft_limit(both.rlim_cur + std::min(bytes, most_bytes));
}

void allow_threads(unsigned count) {
    constexpr std::size_t stack_bytes = std::size_t{1} << 20;
#ifdef __GLIBC__
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) == 0) {
        pthread_attr_setstacksize(&attributes, stack_bytes);
        pthread_setattr_default_np(&attributes);
        pthread_attr_destroy(&attributes);
    }
#endif
    allow_memory(std::uint64_t{count} * stack_bytes);
}

void lift_memory_limit() { set_soft_limit(RLIM_INFINITY); }

}  // namespace nopscope::host
