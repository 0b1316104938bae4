// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/hal/bus.hpp"

#include "hal/arm64/registers.hpp"
#include "hal/drivers/mmio.hpp"
#include "hal/drivers/videocore_mailbox.hpp"
#include "hal/hal.hpp"

namespace nopscope::hal {

namespace {
Bus* bus;
}

Bus::Bus() { bus = this; }
Bus::~Bus() { bus = nullptr; }

std::uint32_t Bus::read(std::uint64_t address) {
    ++microseconds_;
    const auto value = on_read ? on_read(address) : std::nullopt;
    return value ? *value : registers[address];
}

void Bus::write(std::uint64_t address, std::uint32_t value) {
    ++microseconds_;
    writes.push_back({address, value});
    registers[address] = value;
    if (on_write) on_write(address, value);
}

std::uint64_t Bus::counter() { return ++microseconds_ * (counter_hz / 1'000'000); }

SimulatedVideocore::SimulatedVideocore(Bus& on, std::uint64_t base) : bus_(on) {
    constexpr std::uint32_t empty = 1u << 30;
    bus_.on_read = [=, this](std::uint64_t address) -> std::optional<std::uint32_t> {
        const bool is_there = answer_ && bus_.microseconds() >= answered_at_;
        if (address == base + 0x18) return is_there ? 0 : empty;
        if (address != base || !is_there) return std::nullopt;
        const std::uint32_t answer = *answer_;
        answer_.reset();
        return answer;
    };
    bus_.on_write = [=, this](std::uint64_t address, std::uint32_t value) {
        if (address == base + 0x20) take(value);
    };
}

void SimulatedVideocore::take(std::uint32_t message) {
    ++questions;
    if (!answers) return;
    volatile std::uint32_t* const words = videocore_mailbox_buffer;
    const std::uint32_t tag = words[2], clock = words[5];
    if (tag == 0x0003'8002) {
        clocks[clock] = words[6];
        if (on_set) on_set(clock, words[6]);
    } else if (tag == 0x0003'0002) {
        words[6] = clocks[clock];
    } else if (tag == 0x0003'0047) {
        words[6] = measured[clock];
    }
    words[1] = 0x8000'0000;
    answer_ = message;
    answered_at_ = bus_.microseconds() + answers_after_us;
}

std::uint32_t read32(std::uint64_t address) { return bus->read(address); }
void write32(std::uint64_t address, std::uint32_t value) { bus->write(address, value); }
std::uint8_t read8(std::uint64_t address) { return static_cast<std::uint8_t>(bus->read(address)); }
void write8(std::uint64_t address, std::uint8_t value) { bus->write(address, value); }
std::uint64_t read_cntvct_el0() { return bus->counter(); }
std::uint64_t read_cntfrq_el0() { return Bus::counter_hz; }

// hal/uart.cpp calls these, but no test here needs them.
void set_handler(unsigned, unsigned, Handler) {}
bool interrupts_enabled() { return false; }
void enable_interrupts() {}
void disable_interrupts() {}

}  // namespace nopscope::hal
