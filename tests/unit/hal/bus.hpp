// SPDX-License-Identifier: Apache-2.0
// Simulated registers, which read as written or as `on_read` says. An access takes a microsecond.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace nopscope::hal {

struct Write {
    std::uint64_t address;
    std::uint32_t value;
    bool operator==(const Write&) const = default;
};

struct Bus {
    static constexpr std::uint64_t counter_hz = 54'000'000;

    Bus();
    ~Bus();
    Bus(const Bus&) = delete;

    std::uint32_t read(std::uint64_t address);
    void write(std::uint64_t address, std::uint32_t value);
    std::uint64_t counter();
    std::uint64_t microseconds() const { return microseconds_; }

    std::map<std::uint64_t, std::uint32_t> registers;
    std::vector<Write> writes;
    std::function<std::optional<std::uint32_t>(std::uint64_t address)> on_read;
    std::function<void(std::uint64_t address, std::uint32_t value)> on_write;

private:
    std::uint64_t microseconds_ = 0;
};

// A mailbox that answers as the VideoCore does: each clock's rate in Hz, by the clock's number.
struct SimulatedVideocore {
    SimulatedVideocore(Bus& bus, std::uint64_t base);

    std::map<std::uint32_t, std::uint32_t> clocks;
    std::map<std::uint32_t, std::uint32_t> measured;
    bool answers = true;
    std::uint64_t answers_after_us = 0;
    std::function<void(std::uint32_t clock, std::uint32_t hz)> on_set;
    unsigned questions = 0;

private:
    void take(std::uint32_t message);

    Bus& bus_;
    std::optional<std::uint32_t> answer_;
    std::uint64_t answered_at_ = 0;
};

}  // namespace nopscope::hal
