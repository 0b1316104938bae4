// SPDX-License-Identifier: Apache-2.0
// Questions to the Pi's VideoCore firmware over mailbox channel 8: "Mailbox property interface",
// raspberrypi/firmware wiki. Each waits at most a second and returns zero without an answer. A
// mailbox that did not answer once is not asked again. Context: boot, MMU and caches off, so that
// the VideoCore sees the buffer.
#pragma once

#include <cstdint>

namespace nopscope::hal {

class VideocoreMailbox {
public:
    explicit constexpr VideocoreMailbox(std::uint64_t base) : base_(base) {}
    void set_uart_clock_hz(std::uint32_t hz) const;
    std::uint32_t uart_clock_hz() const;  // of the PL011
    std::uint32_t core_clock_hz() const;  // of the mini-UART
    std::uint32_t arm_clock_hz() const;   // measured, if the firmware can
    bool is_silent() const;               // a request got no answer
    // First byte above the memory that belongs to the Arm cores.
    std::uint64_t arm_memory_end() const;

private:
    struct Answer {
        bool given;
        std::uint32_t words[2];
    };
    std::uint32_t clock_hz(std::uint32_t clock, std::uint32_t tag) const;
    // Sends one tag with `count` request words and room for three words of answer.
    Answer ask(std::uint32_t tag, unsigned count, std::uint32_t first, std::uint32_t second,
               std::uint32_t third) const;
    bool exchange(std::uint32_t message) const;

    std::uint64_t base_;
};

// The message buffer. The VideoCore writes its answer into it.
alignas(64) extern volatile std::uint32_t videocore_mailbox_buffer[16];

}  // namespace nopscope::hal
