// SPDX-License-Identifier: Apache-2.0
// What the vectors save. Each architecture's frame.h, which its assembly includes, too, has in
// nopscope::hal:
//
//     ExceptionFrame      the interrupted registers
//     IrqFrame            .general is an ExceptionFrame; an interrupt's
//     FrameRecord         {caller_record, return_address} on a stack; it begins record_offset bytes
//                         from the address that the frame pointer has
//     page_bytes          the least part of memory with a protection of its own
//     registers_of(frame) its InterruptedRegisters
//     fault_of(frame)     the Fault that it is
//     fault_address(frame)    the address that faulted; 0: none
//     resume_at(frame, pc, sp)    changes where it resumes
//     is_synchronous(vector)  the running instruction caused it
//     is_unanswered_semihosting(frame)    at semihosting's instruction: nothing answers
#pragma once

#include "hal/arch.hpp"

#include NOPSCOPE_HAL_FILE(frame.h)
