// SPDX-License-Identifier: Apache-2.0
// Raspberry Pi 4 (BCM2711), low-peripheral mode: "BCM2711 ARM Peripherals", 1.2.4 and the chapters
// named at the drivers.
#include "hal/board.hpp"
#include "hal/boards/raspberry_pi.hpp"

namespace nopscope::hal {

namespace {

using Pi = RaspberryPi<0xfe00'0000, PinPulls::bcm2711>;

constexpr DeviceRange devices[] = {
    {.base = 0xfe00'0000, .bytes = 0x0100'0000},  // mailbox, GPIO, UARTs
    {.base = 0xff80'0000, .bytes = 0x0080'0000},  // GIC-400
};

}  // namespace

constinit const BoardTable board = Pi::table(
    "rpi4", 96, {.controller = Controller::gic_v2, .base = 0xff84'1000, .second = 0xff84'2000},
    devices);

}  // namespace nopscope::hal
