// SPDX-License-Identifier: Apache-2.0
#include "hal/drivers/videocore_mailbox.hpp"

#include "hal/arm64/registers.hpp"
#include "hal/drivers/mmio.hpp"

namespace nopscope::hal {

namespace {

constexpr unsigned read_reg = 0x00;
constexpr unsigned status0_reg = 0x18;  // of the mailbox we read
constexpr unsigned write_reg = 0x20;
constexpr unsigned status1_reg = 0x38;  // of the mailbox we write
constexpr std::uint32_t status_empty = 1u << 30;
constexpr std::uint32_t status_full = 1u << 31;
constexpr std::uint32_t property_channel = 8;
// The VideoCore's uncached view of the first GiB.
constexpr std::uint32_t bus_address = 0xc000'0000;

constexpr std::uint32_t tag_get_arm_memory = 0x0001'0005;
constexpr std::uint32_t tag_get_clock_rate = 0x0003'0002;
constexpr std::uint32_t tag_set_clock_rate = 0x0003'8002;
constexpr std::uint32_t clock_uart = 2, clock_core = 4;

constexpr std::uint32_t request = 0;
constexpr std::uint32_t response_ok = 0x8000'0000;

alignas(64) volatile std::uint32_t buffer[16];

// A fifth of a second: the firmware answers within a millisecond.
bool is_before_deadline(std::uint64_t start) {
    return read_cntvct_el0() - start < read_cntfrq_el0() / 5;
}

}  // namespace

bool VideocoreMailbox::exchange(std::uint32_t message) const {
    const std::uint64_t start = read_cntvct_el0();
    while ((read32(base_ + status1_reg) & status_full) != 0) {
        if (!is_before_deadline(start)) return false;
    }
    dsb_sy();
    write32(base_ + write_reg, message);
    while (is_before_deadline(start)) {
        if ((read32(base_ + status0_reg) & status_empty) != 0) continue;
        if (read32(base_ + read_reg) == message) {
            dsb_sy();
            return true;
        }
    }
    return false;
}

VideocoreMailbox::Answer VideocoreMailbox::ask(std::uint32_t tag, unsigned count, std::uint32_t first,
                                           std::uint32_t second, std::uint32_t third) const {
    constexpr std::uint32_t value_bytes = 12;
    const std::uint32_t words[] = {9 * 4,  request, tag, value_bytes, count * 4, first,
                                   second, third,   0 /* end tag */};
    for (unsigned i = 0; i < 9; ++i) buffer[i] = words[i];
    const auto address = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(buffer));
    if (!exchange((address | bus_address) | property_channel)) return {};
    if (buffer[1] != response_ok) return {};
    return {.given = true, .words = {buffer[5], buffer[6]}};
}

void VideocoreMailbox::set_uart_clock_hz(std::uint32_t hz) const {
    ask(tag_set_clock_rate, 3, clock_uart, hz, 0);
}

std::uint32_t VideocoreMailbox::uart_clock_hz() const { return clock_hz(clock_uart); }

std::uint32_t VideocoreMailbox::core_clock_hz() const { return clock_hz(clock_core); }

std::uint32_t VideocoreMailbox::clock_hz(std::uint32_t clock) const {
    const Answer answer = ask(tag_get_clock_rate, 1, clock, 0, 0);
    return answer.given ? answer.words[1] : 0;
}

std::uint64_t VideocoreMailbox::arm_memory_end() const {
    const Answer answer = ask(tag_get_arm_memory, 0, 0, 0, 0);
    return answer.given ? std::uint64_t{answer.words[0]} + answer.words[1] : 0;
}

}  // namespace nopscope::hal
