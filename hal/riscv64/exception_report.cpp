// SPDX-License-Identifier: Apache-2.0
// Texts for mcause: Privileged Architecture, "Machine Cause Register".
#include <iterator>

#include "hal/console.hpp"
#include "hal/cores.hpp"
#include "hal/hal.hpp"
#include "hal/parts.hpp"
#include "hal/symbols.hpp"

namespace nopscope::hal {

namespace {

const char* cause_name(std::uint64_t cause) {
    static constexpr const char* names[] = {
        "instruction address misaligned",
        "instruction access fault",
        "illegal instruction",
        "breakpoint",
        "load address misaligned",
        "load access fault",
        "store address misaligned",
        "store access fault",
        "ECALL from user mode",
        "ECALL from supervisor mode",
        "reserved",
        "ECALL from machine mode",
        "instruction page fault",
        "load page fault",
        "reserved",
        "store page fault",
        "double trap",
        "reserved",
        "software check",
        "hardware error",
    };
    return cause < std::size(names) ? names[cause] : "unknown cause";
}

void print_register(const char* name, std::uint64_t value) {
    print(name);
    print_hex(value);
}

}  // namespace

void print_cause(const ExceptionFrame& frame, unsigned) {
    print(cause_name(frame.cause));
    if (const std::uint64_t address = fault_address(frame); address != 0) {
        print(" at ");
        print_hex(address);
    }
}

void print_registers(const ExceptionFrame& frame) {
    static constexpr const char* names[] = {
        "ra ", "sp ", "gp ", "tp ", "t0 ", "t1 ", "t2 ", "s0 ", "s1 ", "a0 ", "a1 ",
        "a2 ", "a3 ", "a4 ", "a5 ", "a6 ", "a7 ", "s2 ", "s3 ", "s4 ", "s5 ", "s6 ",
        "s7 ", "s8 ", "s9 ", "s10", "s11", "t3 ", "t4 ", "t5 ", "t6 ",
    };
    print_register("  mcause  ", frame.cause);
    print_register("   mepc ", frame.pc);
    print_register("   mtval ", frame.value);
    print_register("\n  mstatus ", frame.status);
    print("\n");
    for (unsigned i = 0; i < std::size(names); ++i) {
        print(i % 3 == 0 ? "  " : "   ");
        print(names[i]);
        print_register("  ", frame.x[i + 1]);
        if (i % 3 == 2) print("\n");
    }
    print("\n");
}

void print_fault(const Fault& fault) {
    print_register("mcause ", fault.cause);
    print_register(" mepc ", fault.pc);
    print_register(" mtval ", fault.value);
}

BacktraceStart backtrace_start(const ExceptionFrame& frame) {
    const std::uint64_t ra = frame.x[1], t0 = frame.x[5], s0 = frame.x[8];
    BacktraceStart start = {
        .record = s0, .link = ra, .link_name = "ra", .sp = frame.x[2], .pc = frame.pc, .first = 1};
    if (is_entry_code(frame.pc)) {  // a site links by t0, and ra is still the caller's
        start.link = t0;
        start.link_name = "t0";
        start.entry_link = ra;
        start.entry_link_name = "ra";
    }
    return start;
}

std::uint64_t plain_address(std::uint64_t address) { return address; }

// A leaf function's record has its caller's s0 where others have the return address.
FrameRecord record_at(std::uint64_t& record) {
    const auto found = *reinterpret_cast<const FrameRecord*>(record + record_offset);
    const std::uint64_t next = found.return_address;
    if (is_text(next) || next <= record || !is_on_a_stack(next)) return found;
    record = next;
    return record_at(record);
}

}  // namespace nopscope::hal
