// SPDX-License-Identifier: Apache-2.0
// Calls that exceptions leave. All functions here are traced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// The traced functions: X(name, left), where `left` says that no call of it returns.
#define UNWINDING_FUNCTIONS(X)   \
    X(throws, true)              \
    X(tail_calls_throws, true)   \
    X(with_cleanup, true)        \
    X(cleans, false)             \
    X(catches, false)            \
    X(rethrows, true)            \
    X(catches_all, false)        \
    X(catches_deep, false)       \
    X(deep, true)                \
    X(leaf, false)               \
    X(throws_and_catches, false) \
    X(is_interrupted, false)     \
    X(handles, true)             \
    X(traces, false)             \
    X(tail_calls_traces, false)  \
    X(calls_tail_calls, false)   \
    X(stops, true)               \
    X(forces, false)             \
    X(everything, false)

// How often each was called.
struct Called {
#define FIELD(name, left) unsigned name = 0;
    UNWINDING_FUNCTIONS(FIELD)
#undef FIELD
};
extern Called called;

// All of them.
extern const std::span<const void* const> traced_functions;

// The return addresses that _Unwind_Backtrace found in traces(), innermost first.
struct Backtrace {
    static constexpr std::size_t most = 32;
    std::uintptr_t addresses[most];
    std::size_t count = 0;
};
extern Backtrace backtrace;

extern "C" {
// Makes all calls once. False: a result is wrong. `interrupt`: calls on_interrupt().
bool everything(unsigned n, void (*interrupt)());
unsigned leaf(unsigned n);
// Catches what deep() throws, n calls below. Returns 1.
unsigned catches_deep(unsigned n);
// For an interrupt's handler: throws.
unsigned handles(unsigned n);
}
