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
// libstdc++'s __cxa_eh_globals: the exceptions that are being handled, and how many are thrown.
struct CoreExceptions {
    void* caught;
    unsigned uncaught;
};
CoreExceptions exceptions[nopscope::hal::max_cores];

unsigned malloc_depth = 0;
bool enable_after_malloc = false;

}  // namespace

void register_frames() { __register_frame_info(__eh_frame_start, frames); }

// Without this one, libstdc++'s prints the exception's name, with the demangler.
namespace __gnu_cxx {
void __verbose_terminate_handler() { nopscope::hal::panic("std::terminate"); }
}  // namespace __gnu_cxx

extern "C" {
// Instead of libstdc++'s, which keep them in thread-local storage: on RISC-V, tp is the tracer's.
void* __cxa_get_globals() { return &exceptions[nopscope::hal::this_core()]; }
void* __cxa_get_globals_fast() { return __cxa_get_globals(); }

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
