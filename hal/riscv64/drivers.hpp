// SPDX-License-Identifier: Apache-2.0
// The drivers of our RISC-V boards (contract: hal/drivers.hpp).
#pragma once

#include "hal/board.hpp"
#include "hal/drivers/clint_plic.hpp"
#include "hal/drivers/uart16550.hpp"

namespace nopscope::hal {

inline constexpr const char* core_call_refused = "core calls need software interrupt 7";

template <typename Operation>
inline auto with_uart(Operation operation) {
    return operation(Uart16550{board.uart.base});
}

template <typename Operation>
inline auto with_controller(Operation operation) {
    return operation(ClintPlic{board.interrupts.base, board.interrupts.second});
}

}  // namespace nopscope::hal
