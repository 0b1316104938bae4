// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the firmware tells the tracer about its machine: Config::machine, nopscope_config::machine.
///
/// Only a library that was built with NOPSCOPE_MACHINE=given reads it: an installed one, or one
/// that another project adds with add_subdirectory. All zero, or no struct at all, means a machine
/// with one core whose text is writable where it runs.
#pragma once

#ifdef __cplusplus
#include <cstdint>
extern "C" {
#else
#include <stdbool.h>
#include <stdint.h>
#endif

/// Where an inter-processor call interrupted a core.
struct nopscope_interrupted {
    unsigned core;   ///< Its number, from 0.
    uint64_t pc;     ///< The next instruction of the interrupted code.
    unsigned depth;  ///< Exceptions open below the call. 0: it interrupted thread context.
};
/// What nopscope_machine::run_on_other_cores runs on each core.
typedef void (*nopscope_core_call)(void* argument, const struct nopscope_interrupted* here);

/// The machine. The tracer calls these functions on any core, with interrupts on or off, also
/// within a recorder. They must have no patch sites (NOPSCOPE_NOTRACE) and use no vector register.
struct nopscope_machine {
    /// The distance in bytes from the text to its writable alias. 0: the text itself is writable.
    /// Both mappings must be Normal write-back inner shareable.
    int64_t text_alias;
    /// Returns the cores that are on, this one included: bit n stands for core n. Null: this core
    /// is the only one.
    uint32_t (*online_cores)(void);
    /// Runs call(argument, here) on every other core that is on, in an interrupt, and returns when
    /// all have run it. Returns false if a core did not take the interrupt within a second. Null
    /// only if `online_cores` is. tracer/arch/machine.hpp says what the tracer relies on.
    bool (*run_on_other_cores)(nopscope_core_call call, void* argument);
    /// Returns this core's number, from 0. Null: affinity 0 of MPIDR_EL1, or mhartid; 0 if there is
    /// one core.
    unsigned (*core)(void);
};

#ifdef __cplusplus
}
#endif
