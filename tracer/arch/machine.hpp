// SPDX-License-Identifier: Apache-2.0
// Machine: all that the tracer needs from the machine on which it runs.
//
// The tracer's logic is written against this concept. There are three kinds of Machine:
// - On our own boards it is `nopscope::Machine` of the hal, an empty struct of inline assembly.
// - In other firmware it is tracer/arch/given_machine.hpp, which calls the firmware's functions.
// - In unit tests it is a simulated machine (tests/verification/simulator). Its caches are as
//   incoherent as the architecture allows.
//
// Addresses of text are run-time addresses of the executable mapping. The Machine knows the
// writable alias of each; the caller never sees that address.
#pragma once

#include "tracer/arch/select.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace nopscope {

using Address = std::uint64_t;

// Code in [begin, end).
struct CodeRange {
    Address begin = 0;
    Address end = 0;
    constexpr bool contains(Address pc) const { return pc >= begin && pc < end; }
};

// Where an inter-processor call found a core.
struct Interrupted {
    unsigned core;
    Address pc;      // address of the next instruction that it would have executed
    unsigned depth;  // exceptions that the call interrupted; 0: it interrupted thread context
};
// Runs on core `here.core` with interrupts masked. It is short and makes no inter-processor call.
using CoreCall = void (*)(void* argument, const Interrupted& here);

// The concept has the single steps that make a store to text visible to instruction fetch. Each
// architecture's maintenance.hpp puts them in order. If an architecture needs no maintenance by
// cache line, its lines have 0 bytes.
template <typename M>
concept MachineConcept = requires(M machine, Address address, std::uint32_t word,
                                  std::uint64_t slot, CoreCall call, void* argument) {
    // One word of text, or one aligned 8-byte slot before a function. Loads and stores are
    // single-copy atomic. None of these makes a store visible to instruction fetch.
    { machine.read_word(address) } -> std::same_as<std::uint32_t>;
    { machine.write_word(address, word) } -> std::same_as<void>;
    { machine.read_slot(address) } -> std::same_as<std::uint64_t>;
    { machine.write_slot(address, slot) } -> std::same_as<void>;

    // Smallest cache line in bytes. 0: the CPU does not need this maintenance for coherence.
    { machine.dcache_line_bytes() } -> std::same_as<std::size_t>;
    { machine.icache_line_bytes() } -> std::same_as<std::size_t>;
    // init() and join() call this: this core will run traced code. The sizes must suit it, too.
    { machine.use_caches_of_this_core() } -> std::same_as<void>;
    // Cleans a line to where instruction fetch finds it; invalidates a line on all cores. The
    // barrier waits until all earlier accesses and maintenance are complete for all cores.
    { machine.clean_dcache_line(address) } -> std::same_as<void>;
    { machine.invalidate_icache_line(address) } -> std::same_as<void>;
    { machine.data_barrier() } -> std::same_as<void>;
    // Cleans to the point of coherency, where the data is found after a reset.
    { machine.poc_line_bytes() } -> std::same_as<std::size_t>;  // of the data caches
    { machine.clean_to_poc(address) } -> std::same_as<void>;

    // A context synchronisation event on this core: it fetches the next instructions again.
    { machine.instruction_barrier() } -> std::same_as<void>;

    // Runs call(argument, here) on every other core that is online, in any order or at once. The
    // interrupt has the highest priority, so it also interrupts a handler. A core with interrupts
    // masked runs the call late. Returns when all cores have run it. Meanwhile this core runs the
    // calls of other cores, so two cores may call each other. False: a core did not run the call
    // within a second of the counter, and will not run it. It does not wait for a core that has
    // gone off. Must not be called within a call.
    { machine.run_on_other_cores(call, argument) } -> std::same_as<bool>;
    // The same with an empty call: a context synchronisation event on every other core. False: a
    // core did not answer, and may still execute what it fetched before.
    { machine.synchronize_other_cores() } -> std::same_as<bool>;
    { machine.online_cores() } -> std::same_as<std::uint32_t>;  // bit mask, with this core

    // Masks interrupts on this core and returns what to restore.
    { machine.mask_interrupts() } -> std::same_as<std::uint64_t>;
    { machine.restore_interrupts(slot) } -> std::same_as<void>;

    { machine.clock() } -> std::same_as<std::uint64_t>;  // ticks, 64 bits, never wraps
    { machine.core() } -> std::same_as<unsigned>;        // from 0
};

}  // namespace nopscope

// A board's Machine also has writable(address): the address at which it writes that text. The image
// uses our boards' Machine, or the header that CMake's NOPSCOPE_MACHINE names.
#ifdef NOPSCOPE_MACHINE
#include NOPSCOPE_MACHINE
#elif defined(NOPSCOPE_BOARD_MACHINE)
#include NOPSCOPE_BOARD_MACHINE
#endif
