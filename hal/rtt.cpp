// SPDX-License-Identifier: Apache-2.0
// The line through a debug probe: RTT's rings in a section that is mapped Normal non-cacheable
// (linker/sections.ld, mmu.cpp). An image that calls none of these functions has no such section.
#include "hal/drivers/rtt.hpp"

#include "hal/arch.hpp"
#include "hal/hal.hpp"
#include "hal/symbols.hpp"

namespace nopscope::hal {

namespace {

struct SystemBarrier {
    void operator()() const { device_barrier(); }
};

// 128 KiB hold a tenth of a second at 1 MB/s, the rate of a fast probe.
using Block = RttBlock<std::uint32_t{1} << 17, 1024>;
[[gnu::section(".rtt"), gnu::aligned(64)]] Block block;

constinit Rtt<Block, SystemBarrier> rtt{block};

// Longer than any frame.
constexpr std::uint32_t frame_bytes = 2048;
bool in_frame;
bool leaves_out;

}  // namespace

bool rtt_start() { return rtt.start(address_of(&block)); }
bool rtt_try_write(std::uint8_t byte) { return rtt.put(byte); }
bool rtt_try_read(std::uint8_t& byte) { return rtt.get(byte); }

void rtt_drain() {
    rtt.publish();
    std::uint64_t since = clock();
    for (std::uint32_t before = rtt.waiting(); before != 0;) {
        const std::uint32_t now = rtt.waiting();
        if (now != before) since = clock();
        before = now;
        if (clock() - since > clock_hz()) return;
    }
}

bool uart_and_rtt_try_write(std::uint8_t byte) {
    if (!uart_try_write(byte)) return false;
    if (!in_frame) leaves_out = rtt.room() < frame_bytes;
    in_frame = byte != 0;
    if (!leaves_out) (void)rtt.put(byte);
    return true;
}
void uart_and_rtt_drain() {
    uart_drain();
    rtt_drain();
}
bool uart_or_rtt_try_read(std::uint8_t& byte) { return uart_try_read(byte) || rtt_try_read(byte); }

}  // namespace nopscope::hal
