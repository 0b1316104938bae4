// SPDX-License-Identifier: Apache-2.0
// Exceptions other than interrupts. Two are expected and resumed (nopscope_exception). All others
// are reported and end the machine. A fault in the reporter is reported raw, in two lines; a fault
// in that, not at all. The first core that reports stops the others.
#include "hal/arm64/asm.hpp"
#include "hal/arm64/backtrace.hpp"
#include "hal/arm64/exception_names.hpp"
#include "hal/arm64/registers.hpp"
#include "hal/arm64/semihosting.hpp"
#include "hal/console.hpp"
#include "hal/cores.hpp"
#include "hal/expect_fault.hpp"
#include "hal/hal.hpp"
#include "hal/symbols.hpp"

namespace nopscope::hal {

namespace {

constexpr int status_after_exception = 1;
unsigned reports;  // begun so far
struct Syndrome {
    std::uint64_t esr, elr, far;
} first;

void print_register(const char* name, std::uint64_t value) {
    print(name);
    print_hex(value);
}

void print_core() {
    if (!others_started()) return;
    print(" on core ");
    print_decimal(this_core());
}

void print_general_registers(const ExceptionFrame& frame) {
    for (unsigned i = 0; i < 31; ++i) {
        print(i % 3 == 0 ? "  x" : "   x");
        print_decimal(i);
        print(i < 10 ? "   " : "  ");
        print_hex(frame.x[i]);
        if (i % 3 == 2) print("\n");
    }
    print("\n");
}

void print_report(const ExceptionFrame& frame, unsigned vector) {
    const Esr esr{frame.esr};
    print("\nnopscope: exception");
    print_core();
    print(": ");
    print(vector_name(vector));
    print(": ");
    print(exception_class_name(esr));
    if (is_abort(esr)) {
        print(", ");
        print(fault_status_name(esr));
        print(is_data_abort(esr) ? esr.is_write() ? ", write" : ", read" : "");
        print(" at ");
        print_hex(frame.far);
    }
    if (is_in_stack_guard(frame.sp) || (is_abort(esr) && is_in_stack_guard(frame.far))) {
        print("\n  the stack has overflowed");
    }
    print_register("\n  ESR  ", frame.esr);
    print_register("   ELR  ", frame.elr);
    print_register("   FAR  ", frame.far);
    print_register("\n  SPSR ", frame.spsr);
    print_register("   SP   ", frame.sp);
    print("\n");
    print_general_registers(frame);
    print("backtrace:\n  #0  ");
    print_hex(frame.elr);
    print("\n");
    print_backtrace({.record = frame.x[29],
                     .link = frame.x[30],
                     .sp = frame.sp,
                     .pc = frame.elr,
                     .x9 = frame.x[9],
                     .first = 1});
}

void print_syndrome(const char* which, const Syndrome& syndrome) {
    print(which);
    print_register("ESR ", syndrome.esr);
    print_register(" ELR ", syndrome.elr);
    print_register(" FAR ", syndrome.far);
    print("\n");
}

[[noreturn]] void report(const ExceptionFrame& frame, unsigned vector) {
    stop_other_cores();
    const unsigned before = reports++;
    if (before == 0) {
        first = {.esr = frame.esr, .elr = frame.elr, .far = frame.far};
        console_enter_panic();
        print_report(frame, vector);
    } else if (before == 1) {
        console_drop_sink();
        print("\nnopscope: a second exception while reporting the first\n");
        print_syndrome("  first:  ", first);
        print_syndrome("  second: ", {.esr = frame.esr, .elr = frame.elr, .far = frame.far});
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
    if (vector == vector_synchronous) {
        if (skip_unanswered_semihosting(*frame)) return;
        if (recover_expected_fault(*frame)) return;
    }
    report(*frame, vector);
}
