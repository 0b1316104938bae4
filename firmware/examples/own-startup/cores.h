/* SPDX-License-Identifier: Apache-2.0
 * Several cores, and the functions about them that struct nopscope_machine needs. */
#pragma once

#include <nopscope/machine.h>

enum { CORES = 4, STACK_BYTES = 16384 };
extern char stacks[CORES][STACK_BYTES]; /* the first core has another one */

/* First core, once: sets up its number, its vectors and the interrupt controller. */
void cores_prepare(void);
/* Starts a core by PSCI. It runs entry with the MMU on, answers calls, and waits for ever after
 * entry. False: there is no such core, or it is already on. */
bool core_start(unsigned core, void (*entry)(unsigned core));

uint32_t cores_online(void);
unsigned core_number(void);
/* Machine::run_on_other_cores of tracer/arch/machine.hpp, with one call at a time. */
bool cores_call(nopscope_core_call call, void* argument);
