// SPDX-License-Identifier: Apache-2.0
// Makes stores to text visible to instruction fetch (contract: tracer/arch/maintenance.hpp;
// Zifencei, RISC-V ISA Manual, volume I): a data fence, then FENCE.I on each hart. No hart sees the
// stores before, or all at once.
#pragma once

#include "tracer/arch/machine.hpp"

namespace nopscope {

template <MachineConcept M>
class Maintenance {
public:
    explicit Maintenance(M& machine) : machine_(machine) {}
    ~Maintenance() { finish(); }
    Maintenance(const Maintenance&) = delete;
    Maintenance& operator=(const Maintenance&) = delete;

    void note(Address) { noted_ = true; }

    [[gnu::noinline]] bool finish() {
        if (!noted_) return all_came_;
        machine_.data_barrier();
        machine_.instruction_barrier();
        if (!machine_.synchronize_other_cores()) all_came_ = false;
        noted_ = false;
        return all_came_;
    }

private:
    M& machine_;
    bool noted_ = false;
    bool all_came_ = true;
};

}  // namespace nopscope
