// SPDX-License-Identifier: Apache-2.0
// The drivers of our arm64 boards (contract: hal/drivers.hpp).
#pragma once

#include "hal/board.hpp"
#include "hal/drivers/bcm2836_interrupts.hpp"
#include "hal/drivers/cadence_uart.hpp"
#include "hal/drivers/gic.hpp"
#include "hal/drivers/mini_uart.hpp"
#include "hal/drivers/pl011.hpp"

namespace nopscope::hal {

inline constexpr const char* core_call_refused =
    "core calls need SGI 7, and firmware at EL3 keeps it for itself (GICD_IGROUPR0 or "
    "GICR_IGROUPR0, bit 7)";

// The mini-UART is a build option and adds no branch.
template <typename Operation>
inline auto with_uart(Operation operation) {
    if constexpr (NOPSCOPE_MINI_UART) {
        return operation(MiniUart{board.uart.base});
    } else {
        if (board.uart.kind == UartKind::cadence) return operation(CadenceUart{board.uart.base});
        return operation(Pl011{board.uart.base});
    }
}

template <typename Operation>
inline auto with_controller(Operation operation) {
    const InterruptConfig& config = board.interrupts;
    if (config.controller == Controller::gic_v2)
        return operation(Gicv2{config.base, config.second});
    if (config.controller == Controller::gic_v3)
        return operation(Gicv3{config.base, config.second});
    return operation(Bcm2836Interrupts{config.base, config.second});
}

}  // namespace nopscope::hal
