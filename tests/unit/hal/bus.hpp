// SPDX-License-Identifier: Apache-2.0
// Simulated registers, which read as written or as `on_read` says. An access takes a microsecond.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "hal/drivers/videocore_mailbox.hpp"

namespace nopscope::hal {

struct Write {
    std::uint64_t address;
    std::uint32_t value;
    bool operator==(const Write&) const = default;
};

struct Bus {
    static constexpr std::uint64_t counter_hz = 54'000'000;

    Bus() { current = this; }
    ~Bus() { current = nullptr; }
    Bus(const Bus&) = delete;

    std::uint32_t read(std::uint64_t address) {
        ++microseconds_;
        const auto value = on_read ? on_read(address) : std::nullopt;
        return value ? *value : registers[address];
    }
    void write(std::uint64_t address, std::uint32_t value) {
        ++microseconds_;
        writes.push_back({address, value});
        registers[address] = value;
        if (on_write) on_write(address, value);
    }
    std::uint64_t counter() { return ++microseconds_ * (counter_hz / 1'000'000); }
    std::uint64_t microseconds() const { return microseconds_; }

    static inline Bus* current = nullptr;  // of the test that runs
    std::map<std::uint64_t, std::uint32_t> registers;
    std::vector<Write> writes;
    std::function<std::optional<std::uint32_t>(std::uint64_t address)> on_read;
    std::function<void(std::uint64_t address, std::uint32_t value)> on_write;

private:
    std::uint64_t microseconds_ = 0;
};

// A mailbox that answers as the VideoCore does: each clock's rate in Hz, by the clock's number.
struct SimulatedVideocore {
    SimulatedVideocore(Bus& on, std::uint64_t base) : bus_(on) {
        constexpr std::uint32_t empty = 1u << 30;
        bus_.on_read = [=, this](std::uint64_t address) -> std::optional<std::uint32_t> {
            const bool is_there = answer_ && bus_.microseconds() >= answered_at_;
            if (address == base + 0x18) return is_there ? 0 : empty;
            if (address != base || !is_there) return std::nullopt;
            return *std::exchange(answer_, std::nullopt);
        };
        bus_.on_write = [=, this](std::uint64_t address, std::uint32_t value) {
            if (address == base + 0x20) take(value);
        };
    }

    std::map<std::uint32_t, std::uint32_t> clocks;
    std::map<std::uint32_t, std::uint32_t> measured;
    bool answers = true;
    std::uint64_t answers_after_us = 0;
    std::function<void(std::uint32_t clock, std::uint32_t hz)> on_set;
    unsigned questions = 0;

private:
    void take(std::uint32_t message) {
        ++questions;
        if (!answers) return;
        volatile std::uint32_t* const words = videocore_mailbox_buffer;
        const std::uint32_t tag = words[2], clock = words[5];
        if (tag == 0x0003'8002) {
            clocks[clock] = words[6];
            if (on_set) on_set(clock, words[6]);
        }
        if (tag == 0x0003'0002) words[6] = clocks[clock];
        if (tag == 0x0003'0047) words[6] = measured[clock];
        words[1] = 0x8000'0000;
        answer_ = message;
        answered_at_ = bus_.microseconds() + answers_after_us;
    }

    Bus& bus_;
    std::optional<std::uint32_t> answer_;
    std::uint64_t answered_at_ = 0;
};

}  // namespace nopscope::hal
