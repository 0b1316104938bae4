// SPDX-License-Identifier: Apache-2.0
// Code that reads slots and marks nothing (quiescence.hpp), as far as it is in use.
#pragma once

#include "hal/machine.hpp"
#include "tracer/hooks.hpp"
#include "tracer/quiescence.hpp"

#include <span>

namespace nopscope {

class Unmarked {
public:
    Unmarked(bool far, bool profile) {
        if (far) add(nopscope_far, nopscope_far_end);
        if (!profile) return;
        add(nopscope_profile_entry, nopscope_profile_entry_end);
        add(nopscope_profile_events_entry, nopscope_profile_events_entry_end);
        // It reads no slot, but cells that count_events() is about to clear.
        add(nopscope_profile_events_hook, nopscope_profile_events_hook_end);
    }
    std::span<const Quiescence<Machine>::Code> all() const { return {code_, count_}; }

private:
    void add(const char* begin, const char* end) {
        code_[count_++] = {reinterpret_cast<std::uintptr_t>(begin), reinterpret_cast<std::uintptr_t>(end)};
    }
    Quiescence<Machine>::Code code_[4];
    std::size_t count_ = 0;
};

}  // namespace nopscope
