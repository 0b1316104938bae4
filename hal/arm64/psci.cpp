// SPDX-License-Identifier: Apache-2.0
#include "hal/arm64/psci.hpp"

#include "hal/arm64/asm.hpp"
#include "hal/arm64/boot.hpp"
#include "hal/board.hpp"

namespace nopscope::hal {

int psci(std::uint64_t function, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    if (board.core_start.psci == Psci::none) return psci_not_supported;
    const bool by_smc = board.core_start.psci == Psci::by_smc || boot_exception_level() == 2;
    const std::uint64_t answer =
        by_smc ? nopscope_psci_smc(function, a, b, c) : nopscope_psci_hvc(function, a, b, c);
    return static_cast<int>(answer);  // signed, 32 bits: the upper half has no meaning
}

}  // namespace nopscope::hal
