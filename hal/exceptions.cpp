// SPDX-License-Identifier: Apache-2.0
// Exceptions other than interrupts. Two are expected and resumed (nopscope_exception). All others
// are reported and end the machine. A fault in the reporter is reported raw, in two lines; a fault
// in that, not at all. The first core that reports stops the others.
#include "hal/backtrace.hpp"
#include "hal/console.hpp"
#include "hal/cores.hpp"
#include "hal/expect_fault.hpp"
#include "hal/hal.hpp"
#include "hal/parts.hpp"
#include "hal/semihosting.hpp"

namespace nopscope::hal {

namespace {

constexpr int status_after_exception = 1;
unsigned reports;  // begun so far
Fault first;

void print_core() {
    if (!others_started()) return;
    print(" on core ");
    print_decimal(this_core());
}

bool is_in_stack_guard(std::uint64_t address) {
    for (unsigned core = 0; core < max_cores; ++core) {
        const std::uint64_t stack = stack_bounds(core).low;
        if (address >= stack - page_bytes && address < stack) return true;
    }
    return false;
}

void print_report(const ExceptionFrame& frame, unsigned vector) {
    print("\nnopscope: exception");
    print_core();
    print(": ");
    print_cause(frame, vector);
    if (is_in_stack_guard(registers_of(frame).sp) || is_in_stack_guard(fault_address(frame))) {
        print("\n  the stack has overflowed");
    }
    print("\n");
    print_registers(frame);
    print("backtrace:\n  #0  ");
    print_hex(registers_of(frame).pc);
    print("\n");
    print_backtrace(backtrace_start(frame));
}

void print_line(const char* which, const Fault& fault) {
    print(which);
    print_fault(fault);
    print("\n");
}

[[noreturn]] void report(const ExceptionFrame& frame, unsigned vector) {
    stop_other_cores();
    const unsigned before = reports++;
    if (before == 0) {
        first = fault_of(frame);
        console_enter_panic();
        print_report(frame, vector);
    } else if (before == 1) {
        console_drop_sink();
        print("\nnopscope: a second exception while reporting the first\n");
        print_line("  first:  ", first);
        print_line("  second: ", fault_of(frame));
    }
    exit(status_after_exception);
}

}  // namespace

void panic(const char* message) {
    stop_other_cores();
    if (reports++ == 0) {
        console_enter_panic();
        print("\nnopscope: panic");
        print_core();
        print(": ");
        print(message);
        print("\nbacktrace:\n");
        print_backtrace({.record = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0))});
    }
    exit(status_after_exception);
}

}  // namespace nopscope::hal

using namespace nopscope::hal;

void nopscope_exception(ExceptionFrame* frame, unsigned vector) {
    if (is_synchronous(vector)) {
        if (skip_unanswered_semihosting(*frame)) return;
        if (recover_expected_fault(*frame)) return;
    }
    report(*frame, vector);
}
