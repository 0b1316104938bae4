// SPDX-License-Identifier: Apache-2.0
// How many instructions the tracer executes on slow paths, which records tell the host: it takes
// their time off the functions' (tests/verification/oracle/truth.py measures them). They depend on
// the architecture and a little on the compiler. In nopscope::arch:
//
//     told_before, told_after
//                             in the report of a longjmp, before and after it reads the clock
//     way_back                on a recorder's way back from unwind(), minus those of its usual way
//                             that it then saves
//     jump_before             at a jump, of the next function's site and entry before its slow path
//                             reads the clock, less those of a return's hook before it does
//     jump_after              with the duration recorder, on the slow path's way back, less those
//                             of the usual way that it then saves. With the graph recorder the
//                             next entry's record shows their time
//     make_room_after         from make_room()'s tracer_end until the recorder tries again
//     before_going_on         between an interrupt's end and the begin that TracerWork::go_on()
//                             records
#pragma once

#include "tracer/arch/select.hpp"

#include NOPSCOPE_ARCH_FILE(path_lengths.hpp)
