// SPDX-License-Identifier: Apache-2.0
#include "hal/arm64/exception_names.hpp"

#include <iterator>

#include "hal/arm64/page_table.hpp"
#include "hal/hal.hpp"

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

}  // namespace

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

bool is_data_abort(Esr esr) {
    return esr.exception_class() == 0x24 || esr.exception_class() == 0x25;
}

bool is_abort(Esr esr) {
    return is_data_abort(esr) || esr.exception_class() == 0x20 || esr.exception_class() == 0x21;
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

bool is_in_stack_guard(std::uint64_t address) {
    for (unsigned core = 0; core < max_cores; ++core) {
        const std::uint64_t stack = stack_bounds(core).low;
        if (address >= stack - page_bytes && address < stack) return true;
    }
    return false;
}

}  // namespace nopscope::hal
