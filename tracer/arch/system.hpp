// SPDX-License-Identifier: Apache-2.0
// What the tracer needs from the CPU that executes it, besides its Machine. In nopscope::arch:
//
//     architecture            its number in hello
//     current_core(), set_current_core(core)
//                             the register that is reserved for the tracer: the recorders find
//                             their core there
//     current_core_can_be_at(address)
//                             whether that register has room for the address
//     at_required_level()     whether this is the privilege level at which the tracer works
//     mmu_and_cache_on()      whether address translation and the data cache are on, or are not
//                             needed for atomic accesses
//     translate(address, Access)
//                             how the CPU translates an address for a read or a write. Interrupts
//                             must be masked. Translation: is_mapped() for that access; page(), its
//                             physical address; is_write_back(); is_shared(): all cores that run
//                             traced code see the memory coherent
//     read_ticks()            the counter that the firmware's timers use
//     read_cycles(), write_cycles(cycles), start_cycles(), has_cycle_counter()
//                             this core's counter of cycles, 64 bits
//     clock_is_cycles         whether the image's clock is that counter of cycles
//     relax()                 for a loop that waits for another core
//     breakpoint()            stops in a debugger; does not return
//
// On the host there is only relax().
#pragma once

#include "tracer/arch/select.hpp"

#include NOPSCOPE_ARCH_FILE(system.hpp)
