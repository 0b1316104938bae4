// SPDX-License-Identifier: Apache-2.0
// What libstdc++ and libgcc want of a firmware, beside a C library, for exceptions. A compiler for
// Linux has them as Linux wants them: with locks, and with a search for shared libraries.
#include "tests/firmware/unwinding/runtime.hpp"

#include <cstddef>
#include <cstdint>

#include "hal/hal.hpp"

extern "C" {
extern const char __eh_frame_start[];
void __register_frame_info(const void* begin, void* object);
}

namespace {

// libgcc's `struct object`, which has at most eight words.
alignas(8) std::byte frames[64];
// The thread pointer's two words, then the variables: libstdc++'s __cxa_eh_globals, initially 0.
alignas(16) std::uint64_t threads[nopscope::hal::max_cores][8];

unsigned malloc_depth = 0;
bool enable_after_malloc = false;

}  // namespace

void register_frames() { __register_frame_info(__eh_frame_start, frames); }

void set_thread_pointer(unsigned core) { asm volatile("msr tpidr_el0, %0" : : "r"(threads[core])); }

// Without this one, libstdc++'s prints the exception's name, with the demangler.
namespace __gnu_cxx {
void __verbose_terminate_handler() { nopscope::hal::panic("std::terminate"); }
}  // namespace __gnu_cxx

extern "C" {
// Instead of newlib's, which do nothing: an interrupt's handler may throw, which takes memory.
void __malloc_lock(void*) {
    const bool were_enabled = nopscope::hal::interrupts_enabled();
    nopscope::hal::disable_interrupts();
    if (malloc_depth++ == 0) enable_after_malloc = were_enabled;
}
void __malloc_unlock(void*) {
    if (--malloc_depth == 0 && enable_after_malloc) nopscope::hal::enable_interrupts();
}

int _dl_find_object(void*, void*) { return -1; }  // not in a shared library
int pthread_mutex_lock(void*) { return 0; }
int pthread_mutex_unlock(void*) { return 0; }
unsigned long __getauxval(unsigned long) { return 0; }  // no LSE atomics
}
