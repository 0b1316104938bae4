// SPDX-License-Identifier: Apache-2.0
// The Cortex-A53 cores of a Xilinx ZCU102 (Zynq UltraScale+ MPSoC), started by TF-A. Source:
// UG1085, "System Addresses" and "System Interrupts".
#include "hal/board.hpp"

namespace nopscope::hal {

namespace {

constexpr DeviceRange devices[] = {
    {.base = 0xf901'0000, .bytes = 0x3'0000},  // GIC-400
    {.base = 0xff00'0000, .bytes = 0x1000},    // UART 0
};

// The ZCU102's first-stage boot loader sets UART_REF_CLK to this rate, and sets up the pins.
std::uint32_t uart_clock_hz() { return 100'000'000; }

}  // namespace

constinit const BoardTable board = {
    .name = "zcu102",
    .uart = {.kind = UartKind::cadence,
             .base = 0xff00'0000,
             .interrupt = 53,
             .baud = 2'000'000,  // exact, and the maximum of the board's USB bridge (CP2108)
             .prepare_clock_hz = uart_clock_hz},
    .interrupts = {.controller = Controller::gic_v2, .base = 0xf901'0000, .second = 0xf902'0000},
    .core_start = {.psci = Psci::by_smc},
    .devices = devices,
    .memory_survives_reset = true,
};

}  // namespace nopscope::hal
