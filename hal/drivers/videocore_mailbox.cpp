// SPDX-License-Identifier: Apache-2.0
#include "hal/drivers/videocore_mailbox.hpp"

#include "hal/arch.hpp"
#include "hal/drivers/deadline.hpp"
#include "hal/drivers/mmio.hpp"

namespace nopscope::hal {

namespace {

constexpr unsigned read_reg = 0x00;
constexpr unsigned status0_reg = 0x18;  // the mailbox we read
constexpr unsigned write_reg = 0x20;
constexpr unsigned status1_reg = 0x38;  // the mailbox we write
constexpr std::uint32_t status_empty = 1u << 30;
constexpr std::uint32_t status_full = 1u << 31;
constexpr std::uint32_t property_channel = 8;
// The VideoCore's uncached alias of the first GiB.
constexpr std::uint32_t bus_address = 0xc000'0000;

constexpr std::uint32_t tag_get_arm_memory = 0x0001'0005;
constexpr std::uint32_t tag_get_clock_rate = 0x0003'0002;
constexpr std::uint32_t tag_get_measured_rate = 0x0003'0047;
constexpr std::uint32_t tag_set_clock_rate = 0x0003'8002;
constexpr std::uint32_t clock_uart = 2, clock_arm = 3, clock_core = 4;

constexpr std::uint32_t request = 0;
constexpr std::uint32_t response_ok = 0x8000'0000;

// The firmware answers in a millisecond; one took over 0.2 s (raspberrypi/firmware, issue 1376).
constexpr unsigned answer_ms = 1000;

// The address of a mailbox that did not answer; 0: none.
std::uint64_t silent_base;

}  // namespace

alignas(64) volatile std::uint32_t videocore_mailbox_buffer[16];

bool VideocoreMailbox::is_silent() const { return silent_base == base_; }

bool VideocoreMailbox::exchange(std::uint32_t message) const {
    if (is_silent()) return false;
    const Deadline deadline(answer_ms);
    while ((read32(base_ + status1_reg) & status_full) != 0) {
        if (deadline.is_over()) {
            silent_base = base_;
            return false;
        }
    }
    device_barrier();
    write32(base_ + write_reg, message);
    while (!deadline.is_over()) {
        if ((read32(base_ + status0_reg) & status_empty) != 0) continue;
        if (read32(base_ + read_reg) == message) {
            device_barrier();
            return true;
        }
    }
    silent_base = base_;
    return false;
}

VideocoreMailbox::Answer VideocoreMailbox::ask(std::uint32_t tag, unsigned count,
                                               std::uint32_t first, std::uint32_t second,
                                               std::uint32_t third) const {
    constexpr std::uint32_t value_bytes = 12;
    volatile std::uint32_t* const buffer = videocore_mailbox_buffer;
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

std::uint32_t VideocoreMailbox::uart_clock_hz() const {
    return clock_hz(clock_uart, tag_get_clock_rate);
}

std::uint32_t VideocoreMailbox::core_clock_hz() const {
    return clock_hz(clock_core, tag_get_clock_rate);
}

// Old firmware, and QEMU's, cannot measure and return zero.
std::uint32_t VideocoreMailbox::arm_clock_hz() const {
    const std::uint32_t measured_hz = clock_hz(clock_arm, tag_get_measured_rate);
    return measured_hz != 0 ? measured_hz : clock_hz(clock_arm, tag_get_clock_rate);
}

std::uint32_t VideocoreMailbox::clock_hz(std::uint32_t clock, std::uint32_t tag) const {
    const Answer answer = ask(tag, 1, clock, 0, 0);
    return answer.given ? answer.words[1] : 0;
}

std::uint64_t VideocoreMailbox::arm_memory_end() const {
    const Answer answer = ask(tag_get_arm_memory, 0, 0, 0, 0);
    return answer.given ? std::uint64_t{answer.words[0]} + answer.words[1] : 0;
}

}  // namespace nopscope::hal
