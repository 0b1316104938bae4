// SPDX-License-Identifier: Apache-2.0
// QEMU's virt machine for RISC-V, entered in machine mode (-bios none): hw/riscv/virt.c's memory
// map.
#include "hal/board.hpp"
#include "hal/drivers/mmio.hpp"

namespace nopscope::hal {

namespace {

// SiFive's test device: a word ends or resets the machine.
constexpr std::uint64_t test_device = 0x10'0000;

void power_off(int status) {
    constexpr std::uint32_t pass = 0x5555, fail = 0x3333;
    const auto code = static_cast<std::uint32_t>(status) << 16;
    write32(test_device, status == 0 ? pass : fail | code);
}

void reset() { write32(test_device, 0x7777); }

}  // namespace

constinit const BoardTable board = {
    .name = "riscv-virt",
    .uart = {.kind = UartKind::ns16550,
             .base = 0x1000'0000,
             .interrupt = 32 + 10,
             .baud = 3'000'000},
    .interrupts = {.controller = Controller::clint_plic,
                   .base = 0x0200'0000,
                   .second = 0x0c00'0000},
    .core_start = {},
    .devices = {},
    .counter_hz = 10'000'000,
    .power_off = power_off,
    .reset = reset,
    .memory_survives_reset = true,
};

}  // namespace nopscope::hal
