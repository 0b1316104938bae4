// SPDX-License-Identifier: Apache-2.0
// Texts for ESR_EL1: Arm ARM DDI 0487, D19.2 (EC and ISS encodings).
#include <iterator>

#include "hal/arm64/registers.hpp"
#include "hal/console.hpp"
#include "hal/cores.hpp"
#include "hal/hal.hpp"
#include "hal/parts.hpp"
#include "tracer/arch/arm64/cpu.hpp"

namespace nopscope::hal {

namespace {

struct Name {
    unsigned first, last;
    const char* text;
};

template <unsigned count>
const char* look_up(const Name (&names)[count], unsigned code, const char* otherwise) {
    for (const Name& name : names) {
        if (code >= name.first && code <= name.last) return name.text;
    }
    return otherwise;
}

const char* vector_name(unsigned vector) {
    static constexpr const char* names[] = {
        "synchronous, EL1t",    "IRQ, EL1t",    "FIQ, EL1t",    "SError, EL1t",
        "synchronous",          "IRQ",          "FIQ",          "SError",
        "synchronous, EL0",     "IRQ, EL0",     "FIQ, EL0",     "SError, EL0",
        "synchronous, AArch32", "IRQ, AArch32", "FIQ, AArch32", "SError, AArch32",
        "a trap to EL2",
    };
    return names[vector % std::size(names)];
}

const char* exception_class_name(Esr esr) {
    static constexpr Name names[] = {
        {0x00, 0x00, "undefined instruction"},
        {0x01, 0x01, "trapped WFI or WFE"},
        {0x07, 0x07, "trapped access to FP or SIMD registers"},
        {0x09, 0x09, "trapped pointer authentication"},
        {0x0d, 0x0d, "branch target exception (BTI)"},
        {0x0e, 0x0e, "illegal execution state"},
        {0x15, 0x15, "SVC"},
        {0x16, 0x16, "HVC"},
        {0x17, 0x17, "SMC"},
        {0x18, 0x18, "trapped system register access"},
        {0x19, 0x19, "trapped SVE access"},
        {0x1c, 0x1c, "pointer authentication failure"},
        {0x20, 0x20, "instruction abort from EL0"},
        {0x21, 0x21, "instruction abort"},
        {0x22, 0x22, "PC alignment fault"},
        {0x24, 0x24, "data abort from EL0"},
        {0x25, 0x25, "data abort"},
        {0x26, 0x26, "SP alignment fault"},
        {0x2c, 0x2c, "trapped floating-point exception"},
        {0x2f, 0x2f, "SError"},
        {0x30, 0x31, "breakpoint"},
        {0x32, 0x33, "software step"},
        {0x34, 0x35, "watchpoint"},
        {0x3c, 0x3c, "BRK"},
    };
    return look_up(names, esr.exception_class(), "unknown class");
}

const char* fault_status_name(Esr esr) {
    static constexpr Name names[] = {
        {0x00, 0x03, "address size fault"},
        {0x04, 0x04, "translation fault, level 0"},
        {0x05, 0x05, "translation fault, level 1"},
        {0x06, 0x06, "translation fault, level 2"},
        {0x07, 0x07, "translation fault, level 3"},
        {0x08, 0x0b, "access flag fault"},
        {0x0c, 0x0f, "permission fault"},
        {0x10, 0x10, "external abort"},
        {0x14, 0x17, "external abort on a table walk"},
        {0x21, 0x21, "alignment fault"},
        {0x30, 0x30, "TLB conflict"},
        {0x35, 0x35, "unsupported exclusive or atomic access"},
    };
    return look_up(names, esr.fault_status(), "other fault");
}

void print_register(const char* name, std::uint64_t value) {
    print(name);
    print_hex(value);
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

}  // namespace

void print_cause(const ExceptionFrame& frame, unsigned vector) {
    const Esr esr{frame.esr};
    print(vector_name(vector));
    print(": ");
    print(exception_class_name(esr));
    if (!esr.is_abort()) return;
    print(", ");
    print(fault_status_name(esr));
    print(esr.is_data_abort() ? esr.is_write() ? ", write" : ", read" : "");
    print(" at ");
    print_hex(frame.far);
}

void print_registers(const ExceptionFrame& frame) {
    print_register("  ESR  ", frame.esr);
    print_register("   ELR  ", frame.elr);
    print_register("   FAR  ", frame.far);
    print_register("\n  SPSR ", frame.spsr);
    print_register("   SP   ", frame.sp);
    print("\n");
    print_general_registers(frame);
}

void print_fault(const Fault& fault) {
    print_register("ESR ", fault.esr);
    print_register(" ELR ", fault.elr);
    print_register(" FAR ", fault.far);
}

BacktraceStart backtrace_start(const ExceptionFrame& frame) {
    return {.record = frame.x[29],
            .link = frame.x[30],
            .link_name = "x30",
            .sp = frame.sp,
            .pc = frame.elr,
            .entry_link = frame.x[9],
            .entry_link_name = "x9",
            .first = 1};
}

std::uint64_t plain_address(std::uint64_t address) { return Cpu::without_pac(address); }

FrameRecord record_at(std::uint64_t& record) {
    const auto& found = *reinterpret_cast<const FrameRecord*>(record);
    return {found.caller_record, plain_address(found.return_address)};
}

}  // namespace nopscope::hal
