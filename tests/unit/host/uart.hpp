// SPDX-License-Identifier: Apache-2.0
// Simulates a serial line bit by bit: what a receiver reads if the sender has another rate.
#pragma once

#include "tests/unit/host/prelude.hpp"

namespace nopscope::host::test {

// How a receiver continues after a low stop bit: it waits until the line is high, or it takes the
// stop bit as the next start bit.
enum class Resync : std::uint8_t { at_edge, at_stop_bit };

// Returns what a UART at `received_baud` reads of bytes sent 8N1 at `sent_baud`, in bursts. It
// waits for a falling edge and samples each bit in its middle.
inline std::vector<std::uint8_t> received(std::span<const std::uint8_t> sent, double sent_baud,
                                          double received_baud, Resync resync) {
    constexpr std::size_t burst = 200, pause_bits = 40;
    std::string line(30, 1);  // its level in each bit's time
    for (std::size_t n = 0; n < sent.size(); ++n) {
        line += '\0';
        for (unsigned bit = 0; bit < 8; ++bit) line += static_cast<char>(sent[n] >> bit & 1);
        line.append(n % burst == burst - 1 ? 1 + pause_bits : 1, 1);
    }
    const double bit_time = sent_baud / received_baud;  // of the receiver, in the sender's bits
    const auto level = [levels = line.data(), bits = line.size()](double time) {
        const auto at = static_cast<std::size_t>(time);
        return at >= bits || levels[at] != 0;
    };
    const double end = static_cast<double>(line.size());
    std::vector<std::uint8_t> bytes;
    constexpr double step = 1.0 / 16;  // a UART samples 16 times a bit
    for (double time = 0; time < end;) {
        while (time < end && !level(time)) time += step * bit_time;
        while (time < end && level(time)) time += step * bit_time;
        if (time >= end) break;
        double start = time;
        for (bool again = !level(start + 0.5 * bit_time); again;) {
            unsigned byte = 0;
            for (unsigned bit = 0; bit < 8; ++bit) {
                byte |= static_cast<unsigned>(level(start + (1.5 + bit) * bit_time)) << bit;
            }
            bytes.push_back(static_cast<std::uint8_t>(byte));
            const bool good_stop = level(start + 9.5 * bit_time);
            time = start + 9.5 * bit_time;
            again = !good_stop && resync == Resync::at_stop_bit;
            start += 9 * bit_time;
        }
        if (time <= start) time = start + 0.5 * bit_time;
    }
    return bytes;
}

}  // namespace nopscope::host::test
