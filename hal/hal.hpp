// SPDX-License-Identifier: Apache-2.0
// What a board gives to a firmware. Nothing here is instrumented, and nothing here calls newlib
// (which has no locks: one core at a time may be in it).
#pragma once

#include <cstddef>
#include <cstdint>

namespace nopscope::hal {

// ---- the board ----------------------------------------------------------------------------

// Static, zero-terminated: "virt", "rpi4", ...
const char* board_name();
// For Config::keep_over_reset. A Raspberry Pi's boot loader sets the memory up again, QEMU leaves it alone; for the
// ZCU102 that is all that is known.
bool memory_survives_reset();
// What the UART is set to, bits per second; on an emulated UART a nominal figure.
std::uint32_t uart_baud();
// Sets it, both ways; nothing is being sent. False: it cannot be that rate, within 2.5 %. `only_ask`:
// changes nothing.
bool uart_set_baud(std::uint32_t baud, bool only_ask = false);

// ---- the UART; any context ------------------------------------------------------------------

// False: the transmit FIFO is full, nothing was written. Never waits.
bool uart_try_write(std::uint8_t byte);
// Waits until the FIFO takes it.
void uart_write(std::uint8_t byte);
// Waits until the last bit has left.
void uart_drain();

// A byte that has come. One context at a time. What is not read in time is lost: after 16 or 32 bytes,
// or after 512 more where the firmware listens.
bool uart_try_read(std::uint8_t& byte);
// From here on an interrupt of that priority takes what comes into a buffer.
void uart_listen(unsigned priority);

// ---- a debug probe's memory access: SEGGER RTT (docs/openocd.md); any context, one for each direction ----

// Before the others. False: the image does not lie below 4 GiB.
bool rtt_start();
// False: the ring is full, until a probe reads it.
bool rtt_try_write(std::uint8_t byte);
bool rtt_try_read(std::uint8_t& byte);
// Waits until a probe has read all; a second without any progress at most.
void rtt_drain();
// To the UART; and to the ring, where frames for which there is no room are left out, each as a whole.
bool uart_and_rtt_try_write(std::uint8_t byte);
void uart_and_rtt_drain();
bool uart_or_rtt_try_read(std::uint8_t& byte);

// ---- the console ----------------------------------------------------------------------------

// Where bytes that newlib's write() or the exception reporter print go. The default writes them raw
// to the UART; a firmware that frames its line (nopscope::console_write) sets its own.
struct ConsoleSink {
    // Thread or interrupt context. May wait for the line.
    void (*write)(const char* bytes, std::size_t count);
    // Called once before the exception reporter or panic() prints: from here on `write` must work
    // with interrupts masked, in any state, without waiting for another context. May be null.
    void (*enter_panic)();
};
void set_console(const ConsoleSink& sink);
void console_write(const char* bytes, std::size_t count);
// A zero-terminated string; numbers in hex. For code that must not call newlib.
void print(const char* text);
void print_hex(std::uint64_t value);

// ---- the end --------------------------------------------------------------------------------

// Stops the other cores, prints `message`, a backtrace, and exits with status 1. Any context, any
// core. The first core to panic, fault or exit is the one that ends the machine.
[[noreturn]] void panic(const char* message);
// Stops the other cores (an interrupt; those that mask it get 0.1 s) and ends the machine:
// semihosting SYS_EXIT_EXTENDED where a debugger or QEMU answers, else PSCI SYSTEM_OFF where there
// is PSCI, else waits for ever with interrupts masked. Any context, any core.
[[noreturn]] void exit(int status);
// Stops the other cores and resets the machine: PSCI SYSTEM_RESET, or the board's own way. Any context,
// any core.
[[noreturn]] void reset();
// True when semihosting answers (probed once, by an HLT whose exception is caught).
bool has_semihosting();
// The semihosting command line (SYS_GET_CMDLINE), zero-terminated, or "" where there is none.
// Static storage. QEMU: -semihosting-config enable=on,target=native,arg=NAME,arg=...
const char* command_line();

// What a backtrace (and the exception reporter) asks the tracer; set by the firmware from the functions
// of the same names in tracer/include/nopscope/nopscope.hpp. With null pointers it asks nothing.
struct ReturnHook {
    bool (*is_return_hook)(std::uint64_t address) = nullptr;
    std::uint64_t (*hooked_return_address_of)(std::uint64_t low, std::uint64_t high) = nullptr;
    bool (*is_entry_code)(std::uint64_t pc) = nullptr;
};
void set_return_hook(const ReturnHook& hook);

// ---- time -----------------------------------------------------------------------------------

std::uint64_t clock();     // CNTVCT_EL0 after an ISB, ticks
std::uint64_t clock_hz();  // CNTFRQ_EL0
std::uint64_t cycles();    // PMCCNTR_EL0, running since boot

// ---- cores ----------------------------------------------------------------------------------

inline constexpr unsigned max_cores = 8;
// Cores that are there and can be started, 1..max_cores: found at boot.
unsigned core_count();
unsigned this_core();  // 0..max_cores - 1; 0 is the boot core
// Bit mask. Bit 0 from the start.
std::uint32_t online_cores();

// Runs entry(core) on another core, in thread context on a stack of its own (a guard page below),
// set up as the boot core is: MMU, caches, vectors, BTI and PAC, FP, cycle counter, interrupt
// controller; interrupts masked, every private interrupt disabled. When entry returns the core goes
// off, or where there is no PSCI to sleep, for good. Boot core, thread context; returns when the core
// is online. False: no such core, it has been started before, the firmware refused, or it did not
// arrive within a second.
//
//     hal::start_core(1, [](unsigned) {
//         hal::enable_interrupts();
//         work();
//     });
bool start_core(unsigned core, void (*entry)(unsigned core));

// A call on every other core, and its rules: tracer/arch/machine.hpp.

// ---- interrupts -----------------------------------------------------------------------------

// Handlers run in interrupt context, on the interrupted stack, with every register saved (general
// and vector). Priority 0 is the most urgent of 0..14; an interrupt of higher urgency preempts a
// handler, so handlers nest. Handlers may be instrumented functions. The table of handlers is
// common to all cores; what concerns interrupts below 32 (SGIs, PPIs) acts on this core's own, and
// all others go to the boot core.
using Handler = void (*)(unsigned interrupt);
void set_handler(unsigned interrupt, unsigned priority, Handler handler);  // and enables it
void disable_interrupt(unsigned interrupt);
// Software-generated interrupt 0..6 to this core, or to one that is online. SGI 7 is the HAL's:
// inter-processor calls, more urgent than priority 0 where the controller has more than sixteen
// priorities, else as urgent (so a handler of priority 0 delays them). SGIs 8..15 belong to firmware at EL3.
void raise_sgi(unsigned sgi);
void raise_sgi_on(unsigned core, unsigned sgi);

inline constexpr unsigned virtual_timer_interrupt = 27;  // PPI; the generic timer's on all boards

// The virtual timer raises its interrupt when clock() >= at. One-shot: the handler sets the next.
void timer_arm(std::uint64_t at);
void timer_disarm();

// Where a core's count of exceptions below what it runs is: 0 in thread context.
const volatile std::uint32_t* interrupt_depth_of(unsigned core);

// In an interrupt: where this core's thread context was interrupted.
std::uint64_t interrupted_pc();
// In a handler: what it has interrupted, on its stack.
struct InterruptedRegisters {
    const std::uint64_t* x;  // x0 to x30
    std::uint64_t sp;
    std::uint64_t pc;
};
InterruptedRegisters interrupted_registers();

// Told of each interrupt (but SGI 7) on every core, and of what masks them here; set by the firmware from the
// functions of the same names in tracer/include/nopscope/interrupts.hpp. With null pointers nobody is told.
struct InterruptObserver {
    std::uint64_t (*interrupt_begin)(std::uint32_t interrupt) = nullptr;
    void (*interrupt_end)(std::uint64_t begun) = nullptr;
    void (*interrupts_masked)(std::uint64_t where) = nullptr;
    void (*interrupts_unmasked)() = nullptr;
};
void set_interrupt_observer(const InterruptObserver& observer);  // all four, interrupts masked

bool interrupts_enabled();
void enable_interrupts();
void disable_interrupts();
// Sleeps until an interrupt is pending (WFI).
void wait_for_interrupt();
// For a loop that waits for another core (YIELD): QEMU with one thread for all cores runs the next.
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

// The stack a core's main() or entry runs on, for the tracer's bounds check: [lowest, highest).
struct StackBounds {
    std::uint64_t low;
    std::uint64_t high;
};
StackBounds stack_bounds();  // this core's
StackBounds stack_bounds(unsigned core);

}  // namespace nopscope::hal
