// SPDX-License-Identifier: Apache-2.0
// Raspberry Pi 3 (BCM2837). Sources: "BCM2835 ARM Peripherals", whose 0x7e000000 is 0x3f000000
// here, and "ARM quad A7 core" (QA7_rev3.4).
#include "hal/board.hpp"
#include "hal/boards/raspberry_pi.hpp"

namespace nopscope::hal {

namespace {

using Pi = RaspberryPi<0x3f00'0000, PinPulls::bcm2835>;

constexpr DeviceRange devices[] = {
    {.base = 0x3f00'0000, .bytes = 0x0100'0000},  // interrupts, mailbox, GPIO, UARTs
    {.base = 0x4000'0000, .bytes = 0x1000},       // each core's interrupts
};

}  // namespace

constinit const BoardTable board = Pi::table(
    "rpi3", 32, {.controller = Controller::bcm2836, .base = 0x4000'0000, .second = 0x3f00'b200},
    devices);

}  // namespace nopscope::hal
