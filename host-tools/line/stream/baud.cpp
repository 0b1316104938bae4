// SPDX-License-Identifier: Apache-2.0
// A receiver that is r times as fast as the sender reads each bit r times. It begins a byte at a
// falling edge, where a bit of the sender's begins. So it is known which bits of the byte are
// copies of one bit. Bytes in which these copies differ are impossible at this r. Each common rate
// gives a distribution of bytes (for random bits of the sender). The result is the rate whose
// distribution fits best, if it fits well and no other does.
#include "host-tools/line/stream/baud.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace nopscope::host {
namespace {

using Distribution = std::array<double, 256>;

constexpr std::size_t fewest_bytes = 200;
// Bits per byte by which the bytes are likelier at this rate than random, and than at other rates.
constexpr double least_gain = 0.8;
constexpr double least_lead = 0.5;
// Rates within a tenth of each other differ by one bit in some bytes, and clocks are not exact.
constexpr double near = 1.1;
constexpr double least_lead_of_near = 1.5;
// Some bytes may have any value: noise, or the first byte after a pause.
constexpr double noise_share = 0.03;
constexpr double most_impossible = 0.04;
// At ratios nearer to 1, few bits are copies. Above 8, most bytes are zeros.
constexpr double least_ratio = 1.3;
constexpr double most_ratio = 20;
constexpr double most_zeros = 0.75;
constexpr int longest_chain = 8;

// Adds the bytes whose bit n is the sender's bit `sender_bit[n]`; bits up to `last_low` are 0.
void add_bytes(Distribution& to, const std::array<int, 8>& sender_bit, int last_low,
               double weight) {
    const int free_bits = sender_bit[7] - last_low;
    const unsigned patterns = 1u << std::max(free_bits, 0);
    for (unsigned pattern = 0; pattern < patterns; ++pattern) {
        unsigned byte = 0;
        for (unsigned n = 0; n < 8; ++n) {
            const int free_bit = sender_bit[n] - last_low - 1;
            if (free_bit >= 0 && (pattern >> free_bit & 1) != 0) byte |= 1u << n;
        }
        to[byte] += weight / patterns;
    }
}

// `ratio`: the receiver's rate divided by the sender's, above 1. `most_frames`: how many bytes in a
// row may begin after a low stop bit, which some UARTs take for a start bit and others ignore.
Distribution bytes_at(double ratio, int most_frames) {
    Distribution distribution{};
    // Clocks differ by a percent or two, so the bit that is sampled at a boundary is uncertain.
    constexpr double clocks[] = {0.985, 1, 1.015};
    double weight = (most_frames == 0 ? 1.0 : 0.5) / std::size(clocks);
    for (int frames_before = 0; frames_before <= most_frames; ++frames_before) {
        for (const double clock : clocks) {
            const auto bit_at = [&](double time) {
                return static_cast<int>((9 * frames_before + time) * clock / ratio);
            };
            std::array<int, 8> sender_bit{};
            for (int n = 0; n < 8; ++n) sender_bit[static_cast<std::size_t>(n)] = bit_at(1.5 + n);
            add_bytes(distribution, sender_bit, bit_at(0.5), weight);
        }
        if (frames_before + 1 < most_frames) weight /= 2;
    }
    for (double& of : distribution) of = of * (1 - noise_share) + noise_share / 256;
    return distribution;
}

struct Fit {
    std::uint32_t baud = 0;
    double gain = -8;  // bits per byte
    bool is_possible = false;
};

Fit fit_of(std::uint32_t baud, const Distribution& distribution,
           const std::array<std::size_t, 256>& counts, std::size_t all) {
    Fit fit{.baud = baud, .gain = 0};
    std::size_t impossible = 0;
    for (std::size_t byte = 0; byte < counts.size(); ++byte) {
        if (counts[byte] == 0) continue;
        if (distribution[byte] < 2 * noise_share / 256) impossible += counts[byte];
        fit.gain += static_cast<double>(counts[byte]) * std::log2(256 * distribution[byte]);
    }
    fit.gain /= static_cast<double>(all);
    fit.is_possible = static_cast<double>(impossible) <= most_impossible * static_cast<double>(all);
    return fit;
}

bool are_near(std::uint32_t a, std::uint32_t b) { return std::max(a, b) < near * std::min(a, b); }

}  // namespace

std::vector<std::uint32_t> likely_bauds(std::span<const std::uint8_t> bytes,
                                        std::uint32_t received_baud) {
    std::array<std::size_t, 256> counts{};
    for (const std::uint8_t byte : bytes) ++counts[byte];
    const auto zeros = static_cast<double>(counts[0]);
    if (bytes.size() < fewest_bytes || zeros > most_zeros * static_cast<double>(bytes.size()))
        return {};
    std::vector<Fit> fits;
    for (const std::uint32_t baud : common_bauds) {
        const double ratio = static_cast<double>(received_baud) / baud;
        if (ratio < least_ratio || ratio > most_ratio) continue;
        for (const int most_frames : {0, longest_chain}) {
            fits.push_back(fit_of(baud, bytes_at(ratio, most_frames), counts, bytes.size()));
        }
    }
    const auto is_worse = [](const Fit& a, const Fit& b) {
        return a.is_possible != b.is_possible ? b.is_possible : a.gain < b.gain;
    };
    const auto best = std::max_element(fits.begin(), fits.end(), is_worse);
    if (best == fits.end() || !best->is_possible || best->gain < least_gain) return {};
    std::vector<std::uint32_t> likely{best->baud};
    for (const Fit& fit : fits) {
        if (std::find(likely.begin(), likely.end(), fit.baud) != likely.end()) continue;
        // The bytes of a slower sender also fit a multiple of its rate. The reverse does not hold.
        if (fit.baud % best->baud == 0) continue;
        const double lead = best->gain - fit.gain;
        if (are_near(fit.baud, best->baud)) {
            if (lead < least_lead_of_near) likely.push_back(fit.baud);
        } else if (fit.is_possible && lead < least_lead) {
            return {};
        }
    }
    return likely;
}

}  // namespace nopscope::host
