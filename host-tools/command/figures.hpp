// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nopscope::host {

// The figures that a live view has counted.
class Figures {
public:
    virtual ~Figures() = default;
    // They begin again, because of `request`: now, or at `clock` of the target if that is later.
    // Throws Error if nothing more can come.
    virtual void zero(const std::string& request, std::optional<std::uint64_t> clock) = 0;
};

}  // namespace nopscope::host
