// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/flow/programs.hpp"

#include <coroutine>
#include <cstddef>

#define APART [[gnu::noinline, gnu::noclone]]

namespace {

// ---- a state machine ----

std::uint64_t state_add(std::uint64_t sum, std::uint64_t left);
std::uint64_t state_mix(std::uint64_t sum, std::uint64_t left);
std::uint64_t state_next(std::uint64_t sum, std::uint64_t left);

APART void leaf() { asm volatile(""); }
APART std::uint64_t state_add(std::uint64_t sum, std::uint64_t left) {
    return state_mix(sum + left, left);
}
APART std::uint64_t state_mix(std::uint64_t sum, std::uint64_t left) {
    if (left % 64 == 0) leaf();  // makes a frame before it jumps
    return state_next(sum ^ left, left);
}
APART std::uint64_t state_next(std::uint64_t sum, std::uint64_t left) {
    return left < 3 ? sum : state_add(sum, left - 3);
}

// ---- an interpreter: each operation jumps to the next one, often to itself ----

using Operation = std::uint64_t (*)(std::uint64_t random, std::uint64_t left);
extern const Operation operations[4];

std::uint64_t next(std::uint64_t random, std::uint64_t left) {
    random = random * 6364136223846793005 + 1442695040888963407;
    return left == 0 ? random : operations[random >> 62](random, left - 1);
}
template <unsigned number>
APART std::uint64_t operation(std::uint64_t random, std::uint64_t left) {
    if (number == 3 && left % 8 == 0) leaf();
    return next(random + number, left);
}
const Operation operations[4] = {operation<0>, operation<1>, operation<2>, operation<3>};

// ---- coroutines ----

struct Coroutine {
    struct promise_type {  // NOLINT(readability-identifier-naming): the language's name
        Coroutine get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
        static void* operator new(std::size_t bytes) {
            alignas(16) static unsigned char memory[2][1024];
            static unsigned used = 0;
            return bytes <= sizeof memory[0] ? memory[used++ % 2] : nullptr;
        }
        static void operator delete(void*) {}
    };
    std::coroutine_handle<promise_type> handle;
};
std::coroutine_handle<> partners[2];

// Suspends a coroutine and resumes its partner, by a jump.
struct Transfer {
    unsigned to;
    bool await_ready() noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<>) noexcept { return partners[to]; }
    void await_resume() noexcept {}
};
Coroutine bounce(unsigned to, const std::uint64_t& until, std::uint64_t& count) {
    while (++count < until) co_await Transfer{to};
}

// ---- deep calls ----

bool is_odd(std::uint64_t n);
APART bool is_even(std::uint64_t n) {
    const bool result = n == 0 || is_odd(n - 1);
    asm volatile("");  // not a tail call
    return result;
}
APART bool is_odd(std::uint64_t n) {
    const bool result = n != 0 && is_even(n - 1);
    asm volatile("");
    return result;
}

}  // namespace

const void* const for_profile[2] = {reinterpret_cast<const void*>(state_mix),
                                    reinterpret_cast<const void*>(operation<1>)};
const void* const for_duration[2] = {reinterpret_cast<const void*>(state_next),
                                     reinterpret_cast<const void*>(operation<2>)};

APART std::uint64_t run_states(std::uint64_t jumps) { return state_add(1, jumps) + 1; }
APART std::uint64_t run_interpreter(std::uint64_t jumps) { return next(1, jumps) + 1; }
APART std::uint64_t run_coroutines(std::uint64_t jumps) {
    std::uint64_t count = 0;
    for (unsigned n = 0; n < 2; ++n) partners[n] = bounce(1 - n, jumps, count).handle;
    partners[0].resume();
    return count;
}
APART std::uint64_t run_deep(std::uint64_t calls) { return is_even(calls) ? 1 : 0; }
