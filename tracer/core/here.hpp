// SPDX-License-Identifier: Apache-2.0
// The core that runs this code. Tasks may be preempted and moved, so it holds only while interrupts
// are masked.
#pragma once

#include "tracer/arch/machine.hpp"
#include "tracer/arch/system.hpp"
#include "tracer/core/cores.hpp"

namespace nopscope {

inline Core& this_core() { return core_states[Machine().core()]; }
inline bool has_joined(unsigned core) {
    return (__atomic_load_n(&joined_cores, __ATOMIC_RELAXED) >> core & 1) != 0;
}
// Returns this core, or null before its init() or join().
inline Core* joined_core() {
    const unsigned core = Machine().core();
    return initialised && has_joined(core) ? &core_states[core] : nullptr;
}

// This core, while the scope lasts: interrupts are masked.
class Here {
public:
    Here() : interrupts_(Machine().mask_interrupts()) {}
    ~Here() { Machine().restore_interrupts(interrupts_); }
    Here(const Here&) = delete;
    Here& operator=(const Here&) = delete;

    Core* joined() const { return joined_core(); }        // as joined_core()
    Core& core() const { return *arch::current_core(); }  // if it has joined
private:
    std::uint64_t interrupts_;
};

}  // namespace nopscope
