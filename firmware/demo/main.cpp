// SPDX-License-Identifier: Apache-2.0
// The demo: Lua 5.4 runs a few real scripts on a bare machine, with all functions of Lua and newlib
// traced. Its output shares the line with the trace, as a separate stream.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "hal/hal.hpp"
#include "lua.hpp"
#include "nopscope/events.hpp"
#include "nopscope/interrupts.hpp"
#include "nopscope/nopscope.hpp"
#include "nopscope/samples.hpp"
#include "options.hpp"
#include "scripts.hpp"

namespace {

namespace hal = nopscope::hal;

std::uint64_t tick;  // the timer's period in ticks of the clock
bool samples_wanted;

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
std::span<std::byte> profile_memory(const Options& options) {
    if (options.recorder != nopscope::Recorder::profile &&
        options.mode != nopscope::Mode::adaptive) {
        return {};
    }
    const std::size_t bytes = nopscope::profile_bytes(1);
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

void count_events(const Options& options) {
    std::uint16_t numbers[2];
    for (std::uint32_t n = 0; n < options.event_count; ++n)
        numbers[n] = static_cast<std::uint16_t>(options.events[n]);
    const auto status = nopscope::count_events({numbers, options.event_count});
    if (status == nopscope::Status::events_refused)
        hal::panic(nopscope::describe(nopscope::events_refusal().why));
    if (status != nopscope::Status::ok) hal::panic(nopscope::describe(status));
}

nopscope::Status start_tracing(const Options& options) {
    const auto [low, high] = hal::stack_bounds();
    if (options.rtt != Rtt::no && !hal::rtt_start())
        hal::panic("the image is not below 4 GiB: no RTT");
    const auto status = nopscope::init(
        {.image = "demo",
         .board = hal::board_name(),
         .clock_hz = hal::clock_hz(),
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
         .profile_memory = profile_memory(options),
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
    count_events(options);  // before a host may request others
    hal::uart_listen(7);
    hal::set_handler(hal::virtual_timer_interrupt, 8, on_timer);
    samples_wanted = options.samples != 0;
    const std::uint32_t per_second = samples_wanted ? options.samples : options.pumps;
    if (per_second != 0) {
        tick = hal::clock_hz() / per_second;
        hal::timer_arm(hal::clock());
    }
    hal::enable_interrupts();
    return status;
}

// True: the script ran to its end. Prints its result or its error.
bool run(lua_State* lua, const Script& script) {
    const int error = luaL_loadbuffer(lua, script.text.data(), script.text.size(), script.name) ||
                      lua_pcall(lua, 0, 1, 0);
    const char* said = lua_tostring(lua, -1);
    std::printf("  %-10s %s%s\n", script.name, error ? "FAILED: " : "", said ? said : "");
    lua_pop(lua, 1);
    return !error;
}

// Runs all scripts in one state, `rounds` times. Returns how many failed.
unsigned run_all(std::uint32_t rounds) {
    unsigned failed = 0;
    for (std::uint32_t round = 1; round <= rounds; ++round) {
        lua_State* lua = luaL_newstate();
        if (!lua) hal::panic("no memory for a Lua state");
        luaL_openlibs(lua);
        std::printf("round %u of %u\n", unsigned(round), unsigned(rounds));
        for (const Script& script : demo_scripts) failed += !run(lua, script);
        lua_close(lua);
    }
    return failed;
}

}  // namespace

int main() {
    Options options;
    if (!parse_options(hal::command_line(), hal::uart_baud(), options)) {
        hal::print(
            "the command line says: recorder=graph|function|profile|none "
            "mode=lossless|stream|flight|adaptive baud=N rounds=N samples=N rtt=no|both|only "
            "events=N[+N] interrupts=0|1 pumps=N every=N\n");
        return 2;
    }
    const auto status = start_tracing(options);
    if (status != nopscope::Status::ok) hal::panic(nopscope::describe(status));

    std::printf("%s on %s\n", LUA_RELEASE, hal::board_name());
    const unsigned failed = run_all(options.rounds);
    std::printf("%s\n", failed ? "some scripts failed" : "every script's result is right");
    std::fflush(stdout);
    hal::disable_interrupts();
    // newlib's calls at exit are not recorded any more, so they must not be counted either.
    (void)nopscope::disable(nopscope::Sites::all());
    nopscope::finish();
    return failed != 0;
}
