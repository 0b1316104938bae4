// SPDX-License-Identifier: Apache-2.0
#include "hal/drivers/videocore_gpio.hpp"

#include "hal/drivers/mmio.hpp"

namespace nopscope::hal {

namespace {

constexpr unsigned gpfsel1 = 0x04;            // three bits a pin, from pin 10
constexpr unsigned gpfsel3 = 0x0c;            // the same, from pin 30
constexpr unsigned gpio_pup_pdn_reg0 = 0xe4;  // BCM2711: two bits a pin, from pin 0
constexpr unsigned gppud = 0x94;              // BCM2835: the pull to set
constexpr unsigned gppudclk0 = 0x98;          // a bit for each pin that gets it
constexpr std::uint32_t input = 0;
constexpr std::uint32_t pull_up = 1;    // BCM2711
constexpr std::uint32_t pulled_up = 2;  // BCM2835

std::uint32_t with_field(std::uint32_t value, unsigned low, unsigned bits, std::uint32_t field) {
    const std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
    return (value & ~(mask << low)) | field << low;
}

// BCM2835 needs 150 cycles between the steps.
void wait() {
    for (volatile unsigned left = 150; left != 0;) left = left - 1;
}

}  // namespace

void VideocoreGpio::route(HeaderUart uart) const {
    const auto function = static_cast<std::uint32_t>(uart);
    std::uint32_t select = read32(base_ + gpfsel1);
    select = with_field(select, (14 - 10) * 3, 3, function);
    select = with_field(select, (15 - 10) * 3, 3, function);
    write32(base_ + gpfsel1, select);
    pull_uart_pins();
    if (uart != HeaderUart::pl011) return;

    std::uint32_t bluetooth = read32(base_ + gpfsel3);
    bluetooth = with_field(bluetooth, (32 - 30) * 3, 3, input);
    bluetooth = with_field(bluetooth, (33 - 30) * 3, 3, input);
    write32(base_ + gpfsel3, bluetooth);
}

void VideocoreGpio::pull_uart_pins() const {
    if (pulls_ == PinPulls::bcm2711) {
        std::uint32_t pulls = read32(base_ + gpio_pup_pdn_reg0);
        pulls = with_field(pulls, 14 * 2, 2, 0);
        pulls = with_field(pulls, 15 * 2, 2, pull_up);
        write32(base_ + gpio_pup_pdn_reg0, pulls);
        return;
    }
    const auto set = [this](std::uint32_t pull, unsigned pin) {
        write32(base_ + gppud, pull);
        wait();
        write32(base_ + gppudclk0, std::uint32_t{1} << pin);
        wait();
        write32(base_ + gppud, 0);
        write32(base_ + gppudclk0, 0);
    };
    set(0, 14);
    set(pulled_up, 15);
}

}  // namespace nopscope::hal
