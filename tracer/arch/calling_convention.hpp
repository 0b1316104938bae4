// SPDX-License-Identifier: Apache-2.0
// Which registers hold what, and how a caller is found. In nopscope::arch:
//
//     argument_registers      how many integer arguments are passed in registers
//     argument(regs, n)       the n-th of them, at a function's entry
//     result(regs)            the integer result, at its return
//     return_address(regs)    a reference to where the function will return to, at its entry
//     frame_pointer(at)       the frame pointer of interrupted code
//     link(at)                of interrupted code: the register into which a call puts the return
//                             address
//     site_body(at), site_link(at)
//                             of interrupted code that a patch site has called: the traced
//                             function's body and its return address
//     FrameRecord             what a function leaves on the stack: its caller's frame pointer and
//                             its return address
//     frame_record(pointer)   address of the record that a frame pointer leads to
//     is_of_leaf(record, address, stack_end)
//                             whether this record, at that address, is of a function that calls
//                             nothing, and has but its caller's frame pointer
//     leaf_caller(record)     that pointer
//     without_signature(machine, saved)
//                             a saved return address without the CPU's signature
#pragma once

#include "tracer/arch/select.hpp"

#include NOPSCOPE_ARCH_FILE(calling_convention.hpp)
