// SPDX-License-Identifier: Apache-2.0
// The board support that a firmware uses. No function here is instrumented, and none calls newlib:
// newlib has no locks, so only one core at a time may be in it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hal/arch.hpp"

namespace nopscope::hal {

// ---- the board ----

// Static and zero-terminated: "virt", "rpi4", ...
const char* board_name();
// For Config::keep_over_reset. True: RAM keeps its contents over a reset. False on a Raspberry Pi:
// its boot loader initialises RAM again. True for the ZCU102, but nobody has tried it outside QEMU.
bool memory_survives_reset();
// The UART's rate now, bits per second. On an emulated UART it is a nominal figure.
std::uint32_t uart_baud();
// Sets the rate of both directions. Call it when nothing is being sent. False: the UART cannot make
// that rate within 2.5 %. `only_ask`: changes nothing, only returns whether the rate is possible.
bool uart_set_baud(std::uint32_t baud, bool only_ask = false);

// ---- the UART; any context ----

// False: the transmit FIFO is full and nothing was written. Never waits.
bool uart_try_write(std::uint8_t byte);
// Waits for room in the transmit FIFO.
void uart_write(std::uint8_t byte);
// Waits until the last bit has left.
void uart_drain();

// Reads a received byte; false: there is none. One context at a time. A full FIFO (16 or 32 bytes)
// loses later bytes; after uart_listen() a buffer holds 512 more.
bool uart_try_read(std::uint8_t& byte);
// After this call an interrupt of that priority moves received bytes into a buffer.
void uart_listen(unsigned priority);

// ---- SEGGER RTT: a debug probe's access to memory (docs/openocd.md) ----

// Any context, but one at a time for each direction. Call rtt_start() first; false: the image does
// not lie below 4 GiB.
bool rtt_start();
// False: the ring is full until a probe reads it.
bool rtt_try_write(std::uint8_t byte);
bool rtt_try_read(std::uint8_t& byte);
// Waits until a probe has read everything, or for a second without progress.
void rtt_drain();
// Writes to UART and ring. If the ring has no room for a whole frame, it drops that frame.
bool uart_and_rtt_try_write(std::uint8_t byte);
void uart_and_rtt_drain();
bool uart_or_rtt_try_read(std::uint8_t& byte);

// ---- the console ----

// Where newlib's write() and the exception reporter print. The default writes raw bytes to the
// UART. A firmware that sends frames on its line sets its own sink (nopscope::console_write).
struct ConsoleSink {
    // Thread or interrupt context. May wait for the line.
    void (*write)(const char* bytes, std::size_t count);
    // The exception reporter and panic() call it once before they print. From then on `write` must
    // work with interrupts masked, in any state, without waiting for another context. May be null.
    void (*enter_panic)();
};
void set_console(const ConsoleSink& sink);
void console_write(const char* bytes, std::size_t count);
// For code that must not call newlib: a zero-terminated string; a number in hexadecimal.
void print(const char* text);
void print_hex(std::uint64_t value);

// ---- the end ----

// Stops the other cores, prints `message` and a backtrace, and exits with status 1. Any context,
// any core. The first core that panics, faults or exits ends the machine.
[[noreturn]] void panic(const char* message);
// Stops the other cores by an interrupt (a core that masks it gets 0.1 s) and ends the machine by
// the first that works: semihosting SYS_EXIT_EXTENDED (a debugger or QEMU answers), the boot
// firmware, waiting for ever with interrupts masked. Any context, any core.
[[noreturn]] void exit(int status);
// Stops the other cores and resets the machine by the boot firmware or the board's own way. Any
// context, any core.
[[noreturn]] void reset();
// True if semihosting answers. Boot probes it once and catches the exception.
bool has_semihosting();
// The semihosting command line (SYS_GET_CMDLINE), zero-terminated; "" without semihosting.
// Static storage. QEMU: -semihosting-config enable=on,target=native,arg=NAME,arg=...
const char* command_line();

// What a backtrace and the exception reporter ask the tracer. The firmware sets the functions of
// these names in tracer/include/nopscope/nopscope.hpp. A null pointer is not called.
struct ReturnHook {
    bool (*is_return_hook)(std::uint64_t address) = nullptr;
    std::uint64_t (*hooked_return_address_of)(std::uint64_t low, std::uint64_t high) = nullptr;
    bool (*is_entry_code)(std::uint64_t pc) = nullptr;
};
void set_return_hook(const ReturnHook& hook);

// ---- time ----

std::uint64_t clock();     // ticks; not read before earlier instructions
std::uint64_t clock_hz();  // ticks a second
std::uint64_t cycles();    // of this core, running since boot

// ---- cores ----

inline constexpr unsigned max_cores = 8;
// How many cores boot found that can be started: 1..max_cores.
unsigned core_count();
unsigned this_core();  // 0..max_cores - 1; 0 is the boot core
// Bit mask by core. Bit 0 (the boot core) is always set.
std::uint32_t online_cores();

// Boot core, thread context. Runs entry(core) on another core, in thread context on its own stack
// (with a guard page below). The core is set up like the boot core: MMU, caches, vectors, FP,
// branch and pointer protection, cycle counter, interrupt controller. Its interrupts are masked,
// and its private interrupts disabled. When entry returns, the core powers off, or sleeps, for
// good. start_core returns when the core is online. False: no such core, it was started before, the
// boot firmware refused, or it was not online within a second.
//
//     hal::start_core(1, [](unsigned) {
//         hal::enable_interrupts();
//         work();
//     });
bool start_core(unsigned core, void (*entry)(unsigned core));

// Calls on all other cores: tracer/arch/machine.hpp.

// ---- interrupts ----

// Handlers run in interrupt context, on the interrupted stack. All registers, general and vector,
// are saved. Handlers may be instrumented functions. Priorities are 0..14, and 0 is the most
// urgent. A more urgent interrupt preempts a handler, so handlers nest. All cores share the table
// of handlers. Enabling, disabling and priority of software interrupts and of the timer's apply to
// the calling core; all others go to the boot core.
using Handler = void (*)(unsigned interrupt);
void set_handler(unsigned interrupt, unsigned priority, Handler handler);  // and enables it
void disable_interrupt(unsigned interrupt);
// Raises software interrupt 0..6 on this or another online core. The HAL uses 7 for calls between
// cores: more urgent than priority 0 if the controller has over sixteen priorities, else equal (a
// handler of priority 0 then delays calls). 8..15 belong to the boot firmware.
void raise_interrupt(unsigned number);
void raise_interrupt_on(unsigned core, unsigned number);

// The core's timer raises `timer_interrupt` (hal/arch.hpp) when clock() >= at. One-shot: the
// handler arms it again.
void timer_arm(std::uint64_t at);
void timer_disarm();

// The address of a core's count of nested exceptions: 0 in thread context.
const volatile std::uint32_t* interrupt_depth_of(unsigned core);

// In an interrupt: the PC at which this core's thread context was interrupted.
std::uint64_t interrupted_pc();
// In a handler: the interrupted registers, as saved on its stack.
struct InterruptedRegisters {
    const std::uint64_t* x;  // x[n]: register xn
    std::uint64_t sp;
    std::uint64_t pc;
};
InterruptedRegisters interrupted_registers();

// Called for each interrupt but the HAL's own, on all cores, and when the HAL masks or unmasks
// interrupts. The firmware sets those of tracer/include/nopscope/interrupts.hpp. Null: not called.
struct InterruptObserver {
    std::uint64_t (*interrupt_begin)(std::uint32_t interrupt) = nullptr;
    void (*interrupt_end)(std::uint64_t begun) = nullptr;
    void (*interrupts_masked)(std::uint64_t where) = nullptr;
    void (*interrupts_unmasked)() = nullptr;
};
void set_interrupt_observer(const InterruptObserver& observer);  // sets all four; interrupts masked
// Called on all cores at the end of an interrupt of thread context, which the controller has been
// told of; interrupts are masked. It may switch stacks, for a kernel that preempts its tasks: it
// then returns when the interrupted task runs again, maybe on another core. Null: not called.
void set_after_interrupt(void (*after)());

bool interrupts_enabled();
void enable_interrupts();
void disable_interrupts();
// Sleeps until an interrupt is pending.
void wait_for_interrupt();
// For a loop that waits for another core. QEMU on one thread then runs another.
void yield();

class InterruptsMasked {
public:
    InterruptsMasked() : were_enabled_(interrupts_enabled()) { disable_interrupts(); }
    ~InterruptsMasked() {
        if (were_enabled_) enable_interrupts();
    }
    InterruptsMasked(const InterruptsMasked&) = delete;
    InterruptsMasked& operator=(const InterruptsMasked&) = delete;

private:
    bool were_enabled_;
};

// The stack of a core's main() or entry, [low, high). The tracer's bounds check needs it.
struct StackBounds {
    std::uint64_t low;
    std::uint64_t high;
};
StackBounds stack_bounds();  // this core's
StackBounds stack_bounds(unsigned core);

}  // namespace nopscope::hal
