/* SPDX-License-Identifier: Apache-2.0
 * Several cores, and what the tracer wants to know and to do of them: a struct nopscope_machine's functions. */
#pragma once

#include <nopscope/machine.h>

enum { CORES = 4, STACK_BYTES = 16384 };
extern char stacks[CORES][STACK_BYTES];  /* the first core has its own */

/* On the first core, once: its number, its vectors, the interrupt controller. */
void cores_prepare(void);
/* By PSCI. It enters with the MMU on and answers calls; when the entry returns it waits for good. False: it is
 * not there, or on already. */
bool core_start(unsigned core, void (*entry)(unsigned core));

uint32_t cores_online(void);
unsigned core_number(void);
/* Machine::run_on_other_cores of tracer/arch/machine.hpp, with one call at a time. */
bool cores_call(nopscope_core_call call, void* argument);
