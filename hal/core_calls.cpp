// SPDX-License-Identifier: Apache-2.0
// Calls between cores, and stopping the other cores.
//
// Each core has one request, which it uses as the caller. `unclaimed` and `unfinished` start as the
// mask of the called cores. A core clears its bit in `unclaimed` to claim the call, runs it, and
// clears its bit in `unfinished`. The caller waits until `unfinished` is 0. It takes back unclaimed
// bits of cores that are offline or late. So no core uses the argument after the caller has
// returned.
//
// The interrupt only says "look": a core looks through all requests, and so does a waiting caller
// with interrupts masked. An interrupt that finds no request is harmless.
#include <atomic>

#include "hal/cores.hpp"
#include "hal/hal.hpp"
#include "hal/interrupts.hpp"
#include "hal/symbols.hpp"

namespace nopscope::hal {

namespace {

constexpr unsigned stop_fraction_of_second = 10;

struct alignas(64) Request {
    std::atomic<std::uint32_t> unclaimed;
    std::atomic<std::uint32_t> unfinished;
    CoreCall call;  // null: only synchronise
    void* argument;
    bool in_use;      // this core waits as the caller
    bool is_serving;  // this core runs a call
};
Request requests[max_cores];

std::atomic<unsigned> ender;  // the core that ends the machine, plus one
std::atomic<std::uint32_t> stopped;

[[noreturn]] void stop_here() {
    disable_interrupts();
    stopped.fetch_or(1u << this_core(), std::memory_order_release);
    for (;;) wait_for_interrupt();
}

void raise_on(std::uint32_t cores) {
    for (unsigned core = 0; core < max_cores; ++core) {
        if ((cores >> core & 1) != 0) raise_core_call(core);
    }
}

// Takes the request back from those of `cores` that have not claimed it. Returns these cores.
std::uint32_t take_back(Request& request, std::uint32_t cores) {
    const std::uint32_t taken =
        request.unclaimed.fetch_and(~cores, std::memory_order_acq_rel) & cores;
    request.unfinished.fetch_and(~taken, std::memory_order_acq_rel);
    return taken;
}

// In: the request is posted. False: some core did not claim it in time. Waits for claimed calls.
bool wait_for(Request& request, const Interrupted& here) {
    const std::uint64_t limit = clock() + clock_hz();
    bool all_came = true;
    while (request.unfinished.load(std::memory_order_acquire) != 0) {
        serve_core_calls(here);
        take_back(request, ~online_cores());
        if (all_came && clock() > limit) all_came = take_back(request, ~std::uint32_t{0}) == 0;
        yield();
    }
    return all_came;
}

}  // namespace

void serve_core_calls(const Interrupted& here) {
    stop_if_asked();
    const std::uint32_t bit = 1u << here.core;
    for (Request& request : requests) {
        if ((request.unclaimed.load(std::memory_order_relaxed) & bit) == 0) continue;
        if ((request.unclaimed.fetch_and(~bit, std::memory_order_acq_rel) & bit) == 0) continue;
        bool& is_serving = requests[here.core].is_serving;
        is_serving = true;
        // The caller has completed its changes of text, but this core may have fetched older text.
        // An interrupt's entry alone need not synchronise.
        fetch_barrier();
        if (request.call != nullptr) request.call(request.argument, here);
        is_serving = false;
        request.unfinished.fetch_and(~bit, std::memory_order_release);
    }
}

bool run_on_other_cores(CoreCall call, void* argument) {
    const Interrupted here = {.core = this_core(),
                              .pc = address_of(__builtin_return_address(0)),
                              .depth = interrupt_depth()};
    memory_barrier();  // orders the caller's writes before this read: see nopscope_secondary_main
    if (online_cores() == 1) return true;
    const InterruptsMasked masked;
    Request& request = requests[here.core];
    if (request.in_use || request.is_serving) panic("run_on_other_cores: from within a call");
    const std::uint32_t others = online_cores() & ~(1u << here.core);
    request.in_use = true;
    request.call = call;
    request.argument = argument;
    request.unfinished.store(others, std::memory_order_relaxed);
    request.unclaimed.store(others, std::memory_order_release);
    raise_on(others);
    const bool all_came = wait_for(request, here);
    request.in_use = false;
    return all_came;
}

void stop_if_asked() {
    const unsigned who = ender.load(std::memory_order_relaxed);
    if (who != 0 && who != this_core() + 1) stop_here();
}

void stop_other_cores() {
    disable_interrupts();
    if (!others_started()) return;
    unsigned who = 0;
    if (!ender.compare_exchange_strong(who, this_core() + 1, std::memory_order_acq_rel)) {
        if (who != this_core() + 1) stop_here();
        return;
    }
    const std::uint32_t others = online_cores() & ~(1u << this_core());
    raise_on(others);
    const std::uint64_t limit = clock() + clock_hz() / stop_fraction_of_second;
    while ((online_cores() & others & ~stopped.load(std::memory_order_acquire)) != 0) {
        if (clock() > limit) return;
        yield();
    }
}

}  // namespace nopscope::hal
