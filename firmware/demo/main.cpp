// SPDX-License-Identifier: Apache-2.0
// The demo: Lua 5.4 runs a few real scripts on a bare machine, with all functions of Lua and newlib
// traced. Its output shares the line with the trace, as a separate stream.
//
// Each core has its own Lua and runs its share of the scripts. With several cores a task on the
// boot core prints the lines of all (logger.hpp).
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "hal/hal.hpp"
#include "logger.hpp"
#include "lua.hpp"
#include "newlib_cores.hpp"
#include "nopscope/events.hpp"
#include "nopscope/interrupts.hpp"
#include "nopscope/nopscope.hpp"
#include "nopscope/samples.hpp"
#include "options.hpp"
#include "scripts.hpp"
#include "tasks.hpp"

namespace {

namespace hal = nopscope::hal;

constexpr unsigned most_cores = 4;  // that the tracer has rings for

Options options;
unsigned cores;      // that run scripts
std::uint64_t tick;  // the timer's period in ticks of the clock
bool samples_wanted;
std::atomic<bool> all_started;
std::atomic<unsigned> cores_done;
std::atomic<unsigned> scripts_failed;

// Pumps often, so that the line is busy whatever the scripts do.
NOPSCOPE_NOTRACE void on_timer(unsigned) {
    hal::timer_arm(hal::clock() + tick);
    if (samples_wanted) {
        const hal::InterruptedRegisters at = hal::interrupted_registers();
        nopscope::sample({at.x, at.sp, at.pc});
    }
    nopscope::pump();
}

// Only for the profile recorder and adaptive mode: other runs have the whole heap.
std::span<std::byte> profile_memory() {
    if (options.recorder != nopscope::Recorder::profile &&
        options.mode != nopscope::Mode::adaptive) {
        return {};
    }
    const std::size_t bytes = nopscope::profile_bytes(cores);
    auto* const memory = static_cast<std::byte*>(std::malloc(bytes));
    if (memory == nullptr) hal::panic("no memory for the profile");
    return {memory, bytes};
}

nopscope::Config::Output output_of(Rtt rtt) {
    switch (rtt) {
    case Rtt::no: break;
    case Rtt::both: return {hal::uart_and_rtt_try_write, hal::uart_and_rtt_drain};
    case Rtt::only: return {hal::rtt_try_write, hal::rtt_drain};
    }
    return {hal::uart_try_write, hal::uart_drain};
}

void count_events() {
    std::uint16_t numbers[2];
    for (std::uint32_t n = 0; n < options.event_count; ++n)
        numbers[n] = static_cast<std::uint16_t>(options.events[n]);
    const auto status = nopscope::count_events({numbers, options.event_count});
    if (status == nopscope::Status::events_refused)
        hal::panic(nopscope::describe(nopscope::events_refusal().why));
    if (status != nopscope::Status::ok) hal::panic(nopscope::describe(status));
}

void start_timer() {
    const std::uint32_t per_second = samples_wanted ? options.samples : options.pumps;
    if (per_second == 0) return;
    hal::set_handler(hal::timer_interrupt, 8, on_timer);
    tick = hal::clock_hz() / per_second;
    hal::timer_arm(hal::clock());
}

nopscope::Status start_tracing() {
    const auto [low, high] = hal::stack_bounds();
    if (options.rtt != Rtt::no && !hal::rtt_start())
        hal::panic("the image is not below 4 GiB: no RTT");
    const auto status = nopscope::init(
        {.image = "demo",
         .board = hal::board_name(),
         .clock_hz = hal::clock_hz(),
         .cores = cores,
         .output = output_of(options.rtt),
         .line_bytes_per_second = options.baud / 10,
         .input = {.try_read =
                       options.rtt == Rtt::no ? hal::uart_try_read : hal::uart_or_rtt_try_read,
                   .interrupted_pc = hal::interrupted_pc,
                   .baud = hal::uart_baud(),
                   .set_baud = hal::uart_set_baud,
                   .reset = hal::reset},
         .stack_low = low,
         .stack_high = high,
         .mode = options.mode,
         .recorder = options.every == 1 ? options.recorder : nopscope::Recorder::none,
         .profile_memory = profile_memory(),
         .keep_over_reset = hal::memory_survives_reset(),
         .interrupt_depth = hal::interrupt_depth_of});
    if (status != nopscope::Status::ok) return status;
    if (options.every != 1) {
        for (std::uint32_t site = 0; site < nopscope::site_count(); site += options.every) {
            const auto enabled =
                nopscope::enable(options.recorder, nopscope::Sites::range(site, 1));
            if (enabled != nopscope::Status::ok) return enabled;
        }
    }
    hal::set_console({nopscope::console_write, nopscope::enter_panic});
    hal::set_return_hook(
        {nopscope::is_return_hook, nopscope::hooked_return_address_of, nopscope::is_entry_code});
    if (options.interrupts != 0) {
        hal::set_interrupt_observer({nopscope::interrupt_begin, nopscope::interrupt_end,
                                     nopscope::interrupts_masked, nopscope::interrupts_unmasked});
    }
    count_events();  // before a host may request others
    hal::uart_listen(7);
    samples_wanted = options.samples != 0;
    start_timer();
    hal::enable_interrupts();
    return status;
}

// Prints a line, on any core.
void say(const char* line) {
    if (cores == 1)
        std::printf("%s", line);
    else
        logger::put(line);
}

// Lua's allocator on several cores. A task gives way here. It does not call realloc(), which calls
// traced functions while the heap is locked. Not traced: it would be a call for each allocation.
NOPSCOPE_NOTRACE void* allocate(void*, void* block, std::size_t before, std::size_t bytes) {
    tasks::give_way();
    void* const other = bytes != 0 ? std::malloc(bytes) : nullptr;
    if (block == nullptr) return other;
    if (bytes != 0 && other == nullptr) return bytes <= before ? block : nullptr;
    if (bytes != 0) std::memcpy(other, block, std::min(before, bytes));
    std::free(block);
    return other;
}

lua_State* new_state() {
    lua_State* lua = luaL_newstate();
    if (!lua) hal::panic("no memory for a Lua state");
    if (cores > 1) lua_setallocf(lua, allocate, nullptr);
    luaL_openlibs(lua);
    return lua;
}

// Runs the script and says its result or its error.
void run(lua_State* lua, const Script& script) {
    const int error = luaL_loadbuffer(lua, script.text.data(), script.text.size(), script.name) ||
                      lua_pcall(lua, 0, 1, 0);
    const char* said = lua_tostring(lua, -1);
    char line[160];
    std::snprintf(line, sizeof line, "  %-10s %s%.130s\n", script.name, error ? "FAILED: " : "",
                  said ? said : "");
    say(line);
    lua_pop(lua, 1);
    if (error) scripts_failed.fetch_add(1, std::memory_order_relaxed);
}

// Runs this core's share of the scripts, in one state a round. The cores take turns in the list of
// all scripts of all rounds. Not traced: in adaptive mode it would have all time of its callees
// that are not traced one by one.
NOPSCOPE_NOTRACE void run_share() {
    const unsigned core = hal::this_core();
    std::uint64_t number = 0;  // in that list
    for (std::uint32_t round = 1; round <= options.rounds; ++round) {
        lua_State* lua = new_state();
        if (core == 0) {
            char line[64];
            std::snprintf(line, sizeof line, "round %u of %u\n", unsigned(round),
                          unsigned(options.rounds));
            say(line);
        }
        for (const Script& script : demo_scripts) {
            if (number++ % cores == core) run(lua, script);
        }
        lua_close(lua);
    }
}

NOPSCOPE_NOTRACE void lua_task() {
    run_share();
    logger::done();
}

// A core's part, in its idle task.
void run_tasks() {
    static constinit tasks::Task lua[most_cores];
    static const char* const names[most_cores] = {"lua 0", "lua 1", "lua 2", "lua 3"};
    const unsigned core = hal::this_core();
    tasks::create(lua[core], names[core], 1, lua_task);
    tasks::run();
}

// Not traced: it runs before the core has joined.
NOPSCOPE_NOTRACE void begin_core(unsigned) {
    const auto [low, high] = hal::stack_bounds();
    const auto status = nopscope::join(low, high);
    if (status != nopscope::Status::ok) hal::panic(nopscope::describe(status));
    if (samples_wanted) start_timer();
    hal::enable_interrupts();
    while (!all_started.load(std::memory_order_acquire)) hal::yield();
    run_tasks();
    cores_done.fetch_add(1, std::memory_order_release);
}

void run_on_all_cores() {
    prepare_newlib();
    logger::start(cores);
    for (unsigned core = 1; core < cores; ++core) {
        if (!hal::start_core(core, begin_core)) hal::panic("a core did not start");
    }
    all_started.store(true, std::memory_order_release);
    run_tasks();
    while (cores_done.load(std::memory_order_acquire) != cores - 1) hal::yield();
}

}  // namespace

int main() {
    if (!parse_options(hal::command_line(), hal::uart_baud(), options)) {
        hal::print(
            "the command line says: recorder=graph|function|profile|none "
            "mode=lossless|stream|flight|adaptive baud=N rounds=N samples=N rtt=no|both|only "
            "events=N[+N] interrupts=0|1 pumps=N every=N cores=N\n");
        return 2;
    }
    const unsigned found = std::min(hal::core_count(), most_cores);
    cores = options.cores == 0 ? found : options.cores;
    if (cores > found) hal::panic("cores=N: the machine has fewer, or the tracer has fewer rings");
    const auto status = start_tracing();
    if (status != nopscope::Status::ok) hal::panic(nopscope::describe(status));

    std::printf("%s on %s\n", LUA_RELEASE, hal::board_name());
    if (cores == 1)
        run_share();
    else
        run_on_all_cores();
    const bool failed = scripts_failed.load(std::memory_order_relaxed) != 0;
    std::printf("%s\n", failed ? "some scripts failed" : "every script's result is right");
    std::fflush(stdout);
    hal::disable_interrupts();
    // newlib's calls at exit are not recorded any more, so they must not be counted either.
    (void)nopscope::disable(nopscope::Sites::all());
    nopscope::finish();
    return failed;
}
