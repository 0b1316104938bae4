// SPDX-License-Identifier: Apache-2.0
// The coherence oracle's callbacks, which QEMU makes while the image runs. Each finds out what a
// core does, and reports it to the model (coherence_model.hpp).
//
// One lock makes one sequence of all cores' events, and keeps each core's order. A store is
// reported just after it, all else just before it. So if two cores have communicated, the earlier
// action of one also comes first here.
#pragma once

#include "tests/verification/oracle/a64.hpp"
#include "tests/verification/oracle/coherence_files.hpp"
#include "tests/verification/oracle/plugin.hpp"

#include <memory>
#include <mutex>

namespace coherence {

constexpr std::size_t known_pages = 1 << 14;

struct Oracle {
    std::mutex lock;
    Image image;
    std::unique_ptr<Model> model;
    std::unique_ptr<Rows> rows;
    std::string out;
    plugin::Registers registers[max_cores];
    bool knows_caches = false;
    bool knows_core = false;              // not needed with a thread for each core: this_core.hpp
    std::unordered_set<Address> vectors;  // values that VBAR_EL1 had
    std::atomic<unsigned> requests[max_cores] = {};  // open requests
    // Pages of virtual memory that contain neither text nor lists, by number; 0: unknown.
    std::atomic<std::uint64_t> elsewhere[known_pages] = {};
};
// Never destroyed: QEMU calls at_exit callbacks after this library's static destructors.
extern Oracle& oracle;

// `told`: the core that QEMU names (tests/verification/oracle/this_core.hpp).

void on_store(unsigned told, qemu_plugin_meminfo_t info, std::uint64_t address, void*);
// For code that reads slots. `holds`: not null if the code continues to use the object.
void on_load(unsigned told, qemu_plugin_meminfo_t info, std::uint64_t address, void* holds);
void on_system(unsigned told, void* what);  // packed()
void on_exception(unsigned told, void*);
void on_request(unsigned told, void*);
void on_return_address(unsigned told, void* address);
void on_callback_made(unsigned told, void*);
void on_stack_left(unsigned told, void*);   // the core switches tasks: from this SP
void on_stack_taken(unsigned told, void*);  // to this one
void on_word(unsigned told, void* word);
void on_core(qemu_plugin_id_t, unsigned core);

// Packs an instruction: its operation, and the register of its operand.
inline void* packed(a64::Op op, std::uint32_t word) {
    return reinterpret_cast<void*>(std::uintptr_t{static_cast<unsigned>(op)} << 8 |
                                   a64::target_register(word));
}

}  // namespace coherence
