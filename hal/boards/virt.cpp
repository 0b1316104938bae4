// SPDX-License-Identifier: Apache-2.0
// QEMU's virt machine with -M gic-version=3: hw/arm/virt.c's memory map.
#include "hal/board.hpp"

namespace nopscope::hal {

namespace {

constexpr DeviceRange devices[] = {
    {.base = 0x0800'0000, .bytes = 0x0100'0000},  // GIC
    {.base = 0x0900'0000, .bytes = 0x1000},       // PL011
};

}  // namespace

constinit const BoardTable board = {
    .name = "virt",
    .uart = {.kind = UartKind::pl011,
             .base = 0x0900'0000,
             .interrupt = 33,  // SPI 1
             .baud = 3'000'000},
    .interrupts = {.controller = Controller::gic_v3, .base = 0x0800'0000, .second = 0x080a'0000},
    .core_start = {.psci = Psci::from_above},
    .devices = devices,
    .memory_survives_reset = true,
};

}  // namespace nopscope::hal
