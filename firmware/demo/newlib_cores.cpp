// SPDX-License-Identifier: Apache-2.0
#include "newlib_cores.hpp"

#include <reent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>
#include <cstdarg>

#include "hal/hal.hpp"
#include "nopscope/nopscope.hpp"

// As in <malloc.h>, which clang does not take beside <stdlib.h>.
extern "C" int mallopt(int parameter, int value);
extern "C" void __malloc_lock(struct _reent*);
extern "C" void __malloc_unlock(struct _reent*);

namespace {

constexpr int trim_threshold = -1;
constexpr int top_pad = -2;

namespace hal = nopscope::hal;

struct _reent other_cores[hal::max_cores - 1];

NOPSCOPE_NOTRACE struct _reent* own_state() {
    const unsigned core = hal::this_core();
    return core == 0 ? _impure_ptr : &other_cores[core - 1];
}

// The core that has the heap, plus one. newlib takes the lock again while it has it. Both functions
// are not traced: their records could wait for the line, and the heap would stay locked meanwhile.
std::atomic<unsigned> heap_owner;
unsigned heap_depth;
constexpr int heap_bytes = 8 << 20;

}  // namespace

void prepare_newlib() {
    // The heap grows once. malloc() calls traced functions to make it grow.
    mallopt(top_pad, heap_bytes);
    mallopt(trim_threshold, 2 * heap_bytes);
    for (struct _reent& state : other_cores) _REENT_INIT_PTR(&state);
}

extern "C" {

int* __errno() { return &own_state()->_errno; }

double __wrap_strtod(const char* __restrict text, char** __restrict end) {
    return _strtod_r(own_state(), text, end);
}

int __wrap_snprintf(char* __restrict to, size_t bytes, const char* __restrict format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const int length = _vsnprintf_r(own_state(), to, bytes, format, arguments);
    va_end(arguments);
    return length;
}

NOPSCOPE_NOTRACE void __malloc_lock(struct _reent*) {
    const unsigned mine = hal::this_core() + 1;
    if (heap_owner.load(std::memory_order_relaxed) != mine) {
        unsigned nobody = 0;
        while (!heap_owner.compare_exchange_weak(nobody, mine, std::memory_order_acquire,
                                                 std::memory_order_relaxed)) {
            nobody = 0;
            hal::yield();
        }
    }
    ++heap_depth;
}

NOPSCOPE_NOTRACE void __malloc_unlock(struct _reent*) {
    if (--heap_depth == 0) heap_owner.store(0, std::memory_order_release);
}
}
