// SPDX-License-Identifier: Apache-2.0
// Machine: the one seam between the tracer and the world.
//
// The tracer's logic is written against this concept. On our own boards it is `nopscope::Machine`
// of the hal, an empty struct of inline assembly that costs nothing, in somebody else's firmware
// what that has given (tracer/arch/given_machine.hpp); in unit tests it
// is a simulated machine (tests/verification/simulator) whose caches are as incoherent as the
// architecture allows.
//
// Addresses of text are run-time addresses of the executable mapping. Writes go wherever the
// machine keeps its writable alias; the caller never sees that address.
#pragma once

#include "tracer/arch/select.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace nopscope {

using Address = std::uint64_t;

// Where an inter-processor call found a core.
struct Interrupted {
    unsigned core;
    Address pc;      // what it would have executed next
    unsigned depth;  // exceptions below the call on that core; 0: it interrupted thread context
};
// Runs on the core it names, interrupts masked. Short, and makes no inter-processor call itself.
using CoreCall = void (*)(void* argument, const Interrupted& here);

// The steps that make a store to text visible to instruction fetch stand here; each architecture's
// maintenance.hpp puts them in order. An architecture that needs no maintenance by line has lines
// of 0 bytes.
template <typename M>
concept MachineConcept = requires(M machine, Address address, std::uint32_t word,
                                  std::uint64_t slot, CoreCall call, void* argument) {
    // One word of text, one aligned 8-byte slot before a function. Loads and stores are single-copy
    // atomic. Nothing here makes a store visible to instruction fetch.
    { machine.read_word(address) } -> std::same_as<std::uint32_t>;
    { machine.write_word(address, word) } -> std::same_as<void>;
    { machine.read_slot(address) } -> std::same_as<std::uint64_t>;
    { machine.write_slot(address, slot) } -> std::same_as<void>;

    // Smallest line in bytes; 0 where the CPU says that this maintenance is not needed for
    // coherence.
    { machine.dcache_line_bytes() } -> std::same_as<std::size_t>;
    { machine.icache_line_bytes() } -> std::same_as<std::size_t>;
    // From init() and join(): this core will run traced code, so what is said above holds for its
    // caches, too.
    { machine.use_caches_of_this_core() } -> std::same_as<void>;
    // Cleans to where instruction fetch finds the line; invalidates it on all cores. The barrier
    // waits until what came before is complete for all cores.
    { machine.clean_dcache_line(address) } -> std::same_as<void>;
    { machine.invalidate_icache_line(address) } -> std::same_as<void>;
    { machine.data_barrier() } -> std::same_as<void>;
    // To the point of coherency, where a reset finds it.
    { machine.poc_line_bytes() } -> std::same_as<std::size_t>;  // smallest line of the data caches
    { machine.clean_to_poc(address) } -> std::same_as<void>;

    // A context synchronisation event on this core: it fetches again what comes next.
    { machine.instruction_barrier() } -> std::same_as<void>;

    // Runs call(argument) on every other core that is online, in an interrupt of the highest
    // priority: also within a handler, late on a core that has interrupts masked. In any order,
    // also at once. Returns when all have; meanwhile it runs what others ask of this core, so two
    // may do this to each other. False: a core did not come within a second of the counter; `call`
    // will not run there. A core that has gone off is not waited for. Not from within a call.
    { machine.run_on_other_cores(call, argument) } -> std::same_as<bool>;
    // The same with an empty call: a context synchronisation event on every other core. False: a
    // core did not come, and may still execute what it fetched before.
    { machine.synchronize_other_cores() } -> std::same_as<bool>;
    { machine.online_cores() } -> std::same_as<std::uint32_t>;  // bit mask, this core's too

    // Masks interrupts on this core and returns what to restore.
    { machine.mask_interrupts() } -> std::same_as<std::uint64_t>;
    { machine.restore_interrupts(slot) } -> std::same_as<void>;

    { machine.clock() } -> std::same_as<std::uint64_t>;  // ticks, 64 bits, never wraps
    { machine.core() } -> std::same_as<unsigned>;        // from 0
};

}  // namespace nopscope

// Beside this a board's has writable(address): where it writes that text. The image's Machine is
// our boards', or the header that the tracer is built with (CMake: NOPSCOPE_MACHINE).
#ifdef NOPSCOPE_MACHINE
#include NOPSCOPE_MACHINE
#elif defined(NOPSCOPE_BOARD_MACHINE)
#include NOPSCOPE_BOARD_MACHINE
#endif
