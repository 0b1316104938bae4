// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/unwinding/calls.hpp"

#include <unwind.h>

#include <csetjmp>
#include <exception>

#include "nopscope/nopscope.hpp"

Called called;
Backtrace backtrace;

namespace {

struct Error {
    unsigned value;
};

// Stops the compiler from making the call before it a jump.
void end() { asm volatile(""); }

_Unwind_Reason_Code note(_Unwind_Context* context, void*) {
    if (backtrace.count == Backtrace::most) return _URC_END_OF_STACK;
    backtrace.addresses[backtrace.count++] = _Unwind_GetIP(context);
    return _URC_NO_REASON;
}

std::jmp_buf back;
std::uintptr_t stop_at;
_Unwind_Exception forced;
unsigned cleaned;

// Ends a forced unwinding in forces(), whose frame is the first at `stop_at` or above. Not traced:
// its last call does not return, the others do.
NOPSCOPE_NOTRACE _Unwind_Reason_Code stop(int, _Unwind_Action, _Unwind_Exception_Class,
                                          _Unwind_Exception*, _Unwind_Context* context, void*) {
    if (_Unwind_GetCFA(context) >= stop_at) std::longjmp(back, 1);
    return _URC_NO_REASON;
}

}  // namespace

extern "C" {

[[gnu::noinline]] unsigned leaf(unsigned n) {
    ++called.leaf;
    return n + 1;
}
[[gnu::noinline]] unsigned throws(unsigned n) {
    ++called.throws;
    if (n != 0) throw Error{n};
    return n;
}
[[gnu::noinline]] unsigned tail_calls_throws(unsigned n) {
    ++called.tail_calls_throws;
    return throws(n);
}
[[gnu::noinline]] void cleans(unsigned n) {
    ++called.cleans;
    cleaned = 10 * cleaned + n;
}

struct Cleanup {
    unsigned n;
    ~Cleanup() { cleans(n); }
};

[[gnu::noinline]] unsigned with_cleanup(unsigned n) {
    ++called.with_cleanup;
    const Cleanup outer{1};
    const Cleanup inner{2};
    return tail_calls_throws(n) + 1;
}
[[gnu::noinline]] unsigned catches(unsigned n) {
    ++called.catches;
    try {
        return with_cleanup(n) + 1;
    } catch (const Error& error) {
        for (unsigned i = 0; i < 500; ++i) end();  // 1000 instructions
        return leaf(error.value);
    }
}
[[gnu::noinline]] unsigned rethrows(unsigned n) {
    ++called.rethrows;
    try {
        return throws(n) + 1;
    } catch (...) {
        (void)leaf(n);
        throw;
    }
}
[[gnu::noinline]] unsigned catches_all(unsigned n) {
    ++called.catches_all;
    std::exception_ptr kept;
    try {
        return rethrows(n) + 1;
    } catch (...) {
        kept = std::current_exception();
    }
    try {
        std::rethrow_exception(kept);
    } catch (const Error& error) {
        return error.value;
    }
}
[[gnu::noinline]] unsigned deep(unsigned n) {
    ++called.deep;
    if (n == 0) throw Error{1};
    const unsigned below = deep(n - 1);
    end();  // this is no loop
    return below + 1;
}
[[gnu::noinline]] unsigned catches_deep(unsigned n) {
    ++called.catches_deep;
    try {
        return deep(n) + 1;
    } catch (const Error& error) {
        return error.value;
    }
}
// The exception leaves no call.
[[gnu::noinline]] unsigned throws_and_catches(unsigned n) {
    ++called.throws_and_catches;
    try {
        throw Error{n};
    } catch (const Error& error) {
        return error.value;
    }
}

[[gnu::noinline]] unsigned handles(unsigned n) {
    ++called.handles;
    return with_cleanup(n) + 1;
}
// While this function and one that will throw are open.
[[gnu::noinline]] unsigned is_interrupted(unsigned n, void (*interrupt)()) {
    ++called.is_interrupted;
    try {
        const Cleanup cleanup{4};
        interrupt();
        return throws(n) + 1;
    } catch (const Error& error) {
        interrupt();  // while an exception is being handled
        return error.value;
    }
}

[[gnu::noinline]] unsigned traces(unsigned n) {
    ++called.traces;
    backtrace.count = 0;
    _Unwind_Backtrace(note, nullptr);
    // A description begins behind the patch site.
    const auto begin = reinterpret_cast<std::uintptr_t>(
        _Unwind_FindEnclosingFunction(reinterpret_cast<void*>(backtrace.addresses[0])));
    const bool is_this = begin - reinterpret_cast<std::uintptr_t>(&traces) < 16;
    return n + (is_this ? 1 : 0);
}
[[gnu::noinline]] unsigned tail_calls_traces(unsigned n) {
    ++called.tail_calls_traces;
    return traces(n ^ 1);
}
[[gnu::noinline]] unsigned calls_tail_calls(unsigned n) {
    ++called.calls_tail_calls;
    return tail_calls_traces(n) + 1;
}

[[gnu::noinline]] void stops() {
    ++called.stops;
    const Cleanup cleanup{6};
    (void)_Unwind_ForcedUnwind(&forced, stop, nullptr);
}
[[gnu::noinline]] bool forces() {
    ++called.forces;
    stop_at = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (setjmp(back) != 0) return true;
    stops();
    end();
    return false;
}

[[gnu::noinline]] bool everything(unsigned n, void (*interrupt)()) {
    ++called.everything;
    cleaned = 0;
    const bool right = catches(n) == n + 1 && cleaned == 21 && catches_all(n) == n &&
                       catches_deep(40) == 1 && throws_and_catches(n) == n &&
                       calls_tail_calls(2) == 5 && is_interrupted(n, interrupt) == n && forces();
    return right && cleaned == 21'21'4'21'6;
}
}

namespace {

template <typename Function>
const void* address_of(Function* function) {
    return reinterpret_cast<const void*>(function);
}
#define ADDRESS(name, left) address_of(name),
const void* const functions[] = {UNWINDING_FUNCTIONS(ADDRESS)};
#undef ADDRESS

}  // namespace

const std::span<const void* const> traced_functions = functions;
