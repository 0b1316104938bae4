// SPDX-License-Identifier: Apache-2.0
// The machine's properties that init() requires. It asks the CPU for the result of the firmware's
// translation tables. Recorders do not check them again.
#pragma once

#include "nopscope/nopscope.hpp"
#include "tracer/arch/machine.hpp"
#include "tracer/arch/system.hpp"
#include "tracer/core/image.hpp"

#include <cstddef>
#include <span>

namespace nopscope {

// Atomic accesses need write-back memory. It must be shared memory because other cores access the
// rings. Checks both ends of `memory`.
inline bool is_for_records(std::span<const std::byte> memory) {
    if (memory.empty()) return true;
    for (const std::byte* const end : {&memory.front(), &memory.back()}) {
        const auto address = reinterpret_cast<Address>(end);
        const arch::Translation there = arch::translate(address, arch::Access::write);
        if (!there.is_mapped() || !there.is_write_back() || !there.is_shared()) return false;
    }
    return true;
}

// True if the text and its writable alias are mapped to the same memory, both write-back.
template <typename M>
bool is_writable_text(M& machine, Address address) {
    const arch::Translation text = arch::translate(address, arch::Access::read);
    const arch::Translation alias = arch::translate(machine.writable(address), arch::Access::write);
    return text.is_mapped() && alias.is_mapped() && text.page() == alias.page() &&
           text.is_write_back() && alias.is_write_back();
}

inline Status check_processor() {
    if (!arch::at_required_level()) return Status::wrong_level;
    return arch::mmu_and_cache_on() ? Status::ok : Status::mmu_or_cache_off;
}

// Call it after check_processor() and the checks of `config`.
template <typename M>
Status check_surroundings(M& machine, std::span<const std::byte> rings,
                          std::span<const std::byte> cores, const Config& config) {
    const auto saved = machine.mask_interrupts();  // a handler may change PAR_EL1, too
    Status status = Status::ok;
    const auto text_end = reinterpret_cast<Address>(__text_end) - sizeof(std::uint32_t);
    if (!is_for_records(rings) || !is_for_records(cores) ||
        !is_for_records(config.profile_memory) ||
        !arch::current_core_can_be_at(reinterpret_cast<Address>(&cores.back()))) {
        status = Status::wrong_memory;
    } else if (!is_writable_text(machine, reinterpret_cast<Address>(__text_start)) ||
               !is_writable_text(machine, text_end)) {
        status = Status::text_not_writable;
    } else if (machine.online_cores() != std::uint32_t{1} << machine.core()) {
        status = Status::cores_running;
    }
    machine.restore_interrupts(saved);
    return status;
}

}  // namespace nopscope
