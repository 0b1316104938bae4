// SPDX-License-Identifier: Apache-2.0
// Ops: what a patch site's slot points to.
#pragma once

#include "hal/machine.hpp"

#include <span>

namespace nopscope {

// A tracer with a direct entry: the code that an enabled site's BL reaches. 16-byte aligned and of
// static storage: slots hold its address.
struct alignas(16) Ops {
    Address entry = 0;  // 0: the ops of sites that nobody traces

    std::uint64_t as_slot() const { return reinterpret_cast<std::uintptr_t>(this); }
};

// The ops a slot may point to; the first is that of untraced sites.
using OpsSet = std::span<const Ops* const>;

}  // namespace nopscope
