// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/hal/bus.hpp"

#include "hal/drivers/mmio.hpp"
#include "hal/hal.hpp"

namespace nopscope::hal {

std::uint32_t read32(std::uint64_t address) { return Bus::current->read(address); }
void write32(std::uint64_t address, std::uint32_t value) { Bus::current->write(address, value); }
void write64(std::uint64_t address, std::uint64_t value) {
    write32(address, static_cast<std::uint32_t>(value));
    write32(address + 4, static_cast<std::uint32_t>(value >> 32));
}
std::uint8_t read8(std::uint64_t address) { return static_cast<std::uint8_t>(read32(address)); }
void write8(std::uint64_t address, std::uint8_t value) { write32(address, value); }
std::uint64_t clock() { return Bus::current->counter(); }
std::uint64_t clock_hz() { return Bus::counter_hz; }

// hal/uart.cpp calls these, but no test here needs them.
void set_handler(unsigned, unsigned, Handler) {}
bool interrupts_enabled() { return false; }
void enable_interrupts() {}
void disable_interrupts() {}

}  // namespace nopscope::hal
