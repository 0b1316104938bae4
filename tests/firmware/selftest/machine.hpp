// SPDX-License-Identifier: Apache-2.0
// What the tests know of the architecture. machine.arm64.hpp and machine.riscv64.hpp have in
// nopscope::selftest:
//
//     SELFTEST_BREAKPOINT     a breakpoint that no debugger has set, for asm
//     SELFTEST_LINK           the register with a function's return address, for asm
//     instruction_bytes       the shortest instruction's: the unit of addresses in records
//     breakpoint_word         such an instruction
//     returns_2_word          as first word of selftest_patchable(): it then returns 2
//     has_cycle_counter()
//     counts_events           the tracer counts events of the PMU here
//     unknown_registers_are_zero()
//                             the tracer's register and the rounding mode's, which a reset leaves
//                             unknown, as boot leaves them
//     set_second_argument(value)      in the register of a second argument
//     lose_current_core()     the tracer's register then has an invalid pointer
//     MachineState, read_machine_state(), is_set_up(state)
//                             registers that each core has like the boot core, and whether they are
//                             as boot must set them
//     is_unmapped_data(fault), is_unmapped_fetch(fault)
//                             an access to data, or an instruction fetch, where nothing is mapped
//     fault_address(fault)
//     fault_frame(core)       what its last fault has saved
//     guarded_stacks()        of so many cores the stacks have a guard page
//     HeldRegisters, fill(registers, random, loops), forget_unheld(in, out)
//                             what selftest_hold() loads and stores; `loops` is in a register of
//                             its own. forget_unheld() makes equal what it does not keep.
//     SampledRegisters        for Interruption::x: set_frame(address of a FrameRecord) sets
//                             frame(), the frame pointer
#pragma once

#ifdef __riscv
#include "tests/firmware/selftest/machine.riscv64.hpp"
#else
#include "tests/firmware/selftest/machine.arm64.hpp"
#endif
