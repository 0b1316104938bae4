// SPDX-License-Identifier: Apache-2.0
// What a board gives to a firmware. One core for now; nothing here is instrumented, and nothing
// here calls newlib.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nopscope::hal {

// ---- the board ----------------------------------------------------------------------------

// Static, zero-terminated: "virt", "rpi4".
const char* board_name();
// Cores that may run code; 1 in this version.
unsigned core_count();
// What the UART is set to, bits per second; on an emulated UART a nominal figure.
std::uint32_t uart_baud();

// ---- the UART, by polling; any context ------------------------------------------------------

// False: the transmit FIFO is full, nothing was written. Never waits.
bool uart_try_write(std::uint8_t byte);
// Waits until the FIFO takes it.
void uart_write(std::uint8_t byte);
// Waits until the last bit has left.
void uart_drain();

// ---- the console ----------------------------------------------------------------------------

// Where bytes that newlib's write() or the exception reporter print go. The default writes them raw
// to the UART; a firmware that frames its line (nopscope::console_sink) sets its own.
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

// Prints `message`, a backtrace, and exits with status 1. Any context.
[[noreturn]] void panic(const char* message);
// Ends the machine: semihosting SYS_EXIT_EXTENDED where a debugger or QEMU answers, else PSCI
// SYSTEM_OFF where there is PSCI, else waits for ever with interrupts masked.
[[noreturn]] void exit(int status);
// True when semihosting answers (probed once, by an HLT whose exception is caught).
bool has_semihosting();
// The semihosting command line (SYS_GET_CMDLINE), zero-terminated, or "" where there is none.
// Static storage. QEMU: -semihosting-config enable=on,target=native,arg=NAME,arg=...
const char* command_line();

// A backtrace (and the exception reporter) shows `address` instead of a return address that equals
// `hook`, asking `resolve(depth)` for the real one of the depth-th hooked frame, innermost first;
// resolve returns 0 when it has none. Set by the firmware from the tracer's functions.
struct ReturnHook {
    std::uint64_t hook;
    std::uint64_t (*resolve)(unsigned depth);
};
void set_return_hook(const ReturnHook& hook);

// ---- time -----------------------------------------------------------------------------------

std::uint64_t clock();        // CNTVCT_EL0 after an ISB, ticks
std::uint64_t clock_hz();     // CNTFRQ_EL0
std::uint64_t cycles();       // PMCCNTR_EL0, running since boot

// ---- interrupts -----------------------------------------------------------------------------

// Handlers run in interrupt context, on the interrupted stack, with every register saved (general
// and vector). Priority 0 is the most urgent of 0..15; an interrupt of higher urgency preempts a
// handler, so handlers nest. Handlers may be instrumented functions.
using Handler = void (*)(unsigned interrupt);
void set_handler(unsigned interrupt, unsigned priority, Handler handler);  // and enables it
void disable_interrupt(unsigned interrupt);
// Software-generated interrupt 0..15 to this core.
void raise_sgi(unsigned sgi);

inline constexpr unsigned virtual_timer_interrupt = 27;  // PPI, both boards

// The virtual timer raises its interrupt when clock() >= at. One-shot: the handler sets the next.
void timer_arm(std::uint64_t at);
void timer_disarm();

bool interrupts_enabled();
void enable_interrupts();
void disable_interrupts();
// Sleeps until an interrupt is pending (WFI).
void wait_for_interrupt();

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

// The stack main() runs on, for the tracer's bounds check: [lowest, highest).
struct StackBounds {
    std::uint64_t low;
    std::uint64_t high;
};
StackBounds stack_bounds();

}  // namespace nopscope::hal
