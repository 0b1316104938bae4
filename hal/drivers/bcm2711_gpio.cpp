// SPDX-License-Identifier: Apache-2.0
#include "hal/drivers/bcm2711_gpio.hpp"

#include "hal/drivers/mmio.hpp"

namespace nopscope::hal {

namespace {

constexpr unsigned gpfsel1 = 0x04;            // three bits a pin, from pin 10
constexpr unsigned gpfsel3 = 0x0c;            // the same, from pin 30
constexpr unsigned gpio_pup_pdn_reg0 = 0xe4;  // two bits a pin, from pin 0
constexpr std::uint32_t input = 0;
constexpr std::uint32_t alt0 = 4;
constexpr std::uint32_t pull_up = 1;

std::uint32_t with_field(std::uint32_t value, unsigned low, unsigned bits, std::uint32_t field) {
    const std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
    return (value & ~(mask << low)) | field << low;
}

}  // namespace

void Bcm2711Gpio::route_uart0() const {
    std::uint32_t select = read32(base_ + gpfsel1);
    select = with_field(select, (14 - 10) * 3, 3, alt0);
    select = with_field(select, (15 - 10) * 3, 3, alt0);
    write32(base_ + gpfsel1, select);

    std::uint32_t bluetooth = read32(base_ + gpfsel3);
    bluetooth = with_field(bluetooth, (32 - 30) * 3, 3, input);
    bluetooth = with_field(bluetooth, (33 - 30) * 3, 3, input);
    write32(base_ + gpfsel3, bluetooth);

    std::uint32_t pulls = read32(base_ + gpio_pup_pdn_reg0);
    pulls = with_field(pulls, 14 * 2, 2, 0);
    pulls = with_field(pulls, 15 * 2, 2, pull_up);
    write32(base_ + gpio_pup_pdn_reg0, pulls);
}

}  // namespace nopscope::hal
