/* SPDX-License-Identifier: Apache-2.0
 * What a firmware of its own tells the tracer of its machine: Config::machine, nopscope_config.machine. Only a
 * library built for that looks at it (NOPSCOPE_MACHINE=given: installed, or in another project by
 * add_subdirectory). All zero is one core whose text is writable where it runs; so is no struct at all.
 */
#pragma once

#ifdef __cplusplus
#include <cstdint>
extern "C" {
#else
#include <stdbool.h>
#include <stdint.h>
#endif

/* Where a call found a core: tracer/arch/machine.hpp's Interrupted. */
struct nopscope_interrupted {
    unsigned core;
    uint64_t pc;     /* what it would have executed next */
    unsigned depth;  /* exceptions below the call; 0: it interrupted thread context */
};
typedef void (*nopscope_core_call)(void* argument, const struct nopscope_interrupted* here);

/* The functions are called with interrupts on or off, from any core, also within a recorder. They have no
 * patch sites (NOPSCOPE_NOTRACE) and touch no vector register. */
struct nopscope_machine {
    /* From an address in the text to where the same byte is mapped writable: the alias less the address.
     * Both mappings are Normal write-back inner shareable. */
    int64_t text_alias;
    /* Cores that are on, a bit each, this one's too. Null: this is the only one. */
    uint32_t (*online_cores)(void);
    /* Runs call(argument, where) on every other core that is on, in an interrupt, and returns when all have:
     * tracer/arch/machine.hpp says what exactly. `call` may be null: then the interrupt is all. Null only
     * with online_cores. */
    bool (*run_on_other_cores)(nopscope_core_call call, void* argument);
    /* This core's number, from 0. Null: affinity 0 of MPIDR_EL1, or 0 where there is one core. */
    unsigned (*core)(void);
};

#ifdef __cplusplus
}
#endif
