// SPDX-License-Identifier: Apache-2.0
// Code in use that reads slots without taking a guard (quiescence.hpp).
#pragma once

#include "tracer/arch/machine.hpp"
#include "tracer/core/hooks.hpp"
#include "tracer/patching/quiescence.hpp"

#include <span>

namespace nopscope {

class UnguardedCode {
public:
    UnguardedCode(bool far, bool profile) {
        if (far) add(nopscope_far, nopscope_far_end);
        // Both entries, and the hook that counts events. The hook reads no slot, but count_events()
        // must wait for it, too.
        if (profile) add(nopscope_profile_entry, nopscope_profile_events_hook_end);
    }
    std::span<const Quiescence<Machine>::Code> all() const { return {code_, count_}; }

private:
    void add(const char* begin, const char* end) {
        code_[count_++] = {reinterpret_cast<std::uintptr_t>(begin),
                           reinterpret_cast<std::uintptr_t>(end)};
    }
    Quiescence<Machine>::Code code_[2];
    std::size_t count_ = 0;
};

}  // namespace nopscope
