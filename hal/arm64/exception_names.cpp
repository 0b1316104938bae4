// SPDX-License-Identifier: Apache-2.0
#include "hal/arm64/exception_names.hpp"

#include "hal/arm64/page_table.hpp"
#include "hal/arm64/symbols.hpp"

namespace nopscope::hal {

const char* vector_name(unsigned vector) {
    static constexpr const char* names[16] = {
        "synchronous, EL1t",     "IRQ, EL1t",     "FIQ, EL1t",     "SError, EL1t",
        "synchronous",           "IRQ",           "FIQ",           "SError",
        "synchronous, EL0",      "IRQ, EL0",      "FIQ, EL0",      "SError, EL0",
        "synchronous, AArch32",  "IRQ, AArch32",  "FIQ, AArch32",  "SError, AArch32",
    };
    return names[vector % 16];
}

const char* exception_class_name(Esr esr) {
    switch (esr.exception_class()) {
        case 0x00: return "undefined instruction";
        case 0x01: return "trapped WFI or WFE";
        case 0x07: return "trapped access to FP or SIMD registers";
        case 0x09: return "trapped pointer authentication";
        case 0x0d: return "branch target exception (BTI)";
        case 0x0e: return "illegal execution state";
        case 0x15: return "SVC";
        case 0x16: return "HVC";
        case 0x17: return "SMC";
        case 0x18: return "trapped system register access";
        case 0x19: return "trapped SVE access";
        case 0x1c: return "pointer authentication failure";
        case 0x20: return "instruction abort from EL0";
        case 0x21: return "instruction abort";
        case 0x22: return "PC alignment fault";
        case 0x24: return "data abort from EL0";
        case 0x25: return "data abort";
        case 0x26: return "SP alignment fault";
        case 0x2c: return "trapped floating-point exception";
        case 0x2f: return "SError";
        case 0x30: case 0x31: return "breakpoint";
        case 0x32: case 0x33: return "software step";
        case 0x34: case 0x35: return "watchpoint";
        case 0x3c: return "BRK";
        default: return "unknown class";
    }
}

bool is_data_abort(Esr esr) {
    return esr.exception_class() == 0x24 || esr.exception_class() == 0x25;
}

bool is_abort(Esr esr) {
    return is_data_abort(esr) || esr.exception_class() == 0x20 || esr.exception_class() == 0x21;
}

const char* fault_status_name(Esr esr) {
    switch (esr.fault_status()) {
        case 0x00: case 0x01: case 0x02: case 0x03: return "address size fault";
        case 0x04: return "translation fault, level 0";
        case 0x05: return "translation fault, level 1";
        case 0x06: return "translation fault, level 2";
        case 0x07: return "translation fault, level 3";
        case 0x08: case 0x09: case 0x0a: case 0x0b: return "access flag fault";
        case 0x0c: case 0x0d: case 0x0e: case 0x0f: return "permission fault";
        case 0x10: return "external abort";
        case 0x14: case 0x15: case 0x16: case 0x17: return "external abort on a table walk";
        case 0x21: return "alignment fault";
        case 0x30: return "TLB conflict";
        case 0x35: return "unsupported exclusive or atomic access";
        default: return "other fault";
    }
}

bool is_in_stack_guard(std::uint64_t address) {
    const std::uint64_t stack = address_of(__stack_low);
    return address >= stack - page_bytes && address < stack;
}

}  // namespace nopscope::hal
