// SPDX-License-Identifier: Apache-2.0
// Records in flight mode and resets the machine; the next boot sends the records. Words: `sudden`:
// no prepare_reset. `header`, `records`: spoils the header, or three records, as a reset might.
// `forget`: keeps nothing over a reset. `crash`: faults instead.
#include <cstdio>

#include "nopscope/triggers.hpp"
#include "tests/firmware/image.hpp"

namespace hal = nopscope::hal;
using image::is_given;

extern "C" {

extern std::uint64_t __ring_start[], __ring_end[];
[[gnu::section(".nopscope.ring.boots")]] std::uint64_t boots;

[[gnu::noinline]] void leaf(unsigned turns) {
    for (unsigned i = 0; i < turns; ++i) asm volatile("");
}
[[gnu::noinline]] void branch(unsigned turns) {
    leaf(turns);
    leaf(turns);
    asm volatile("");
}
[[gnu::noinline]] void before_the_reset() {
    branch(20);
    nopscope::mark(77);
    if (is_given("crash")) __builtin_trap();
}
[[gnu::noinline]] void after_the_reset() { branch(30); }
}

// Finds the header of tracer/stream/warm_reset.hpp, which has the first ring's address.
static std::uint64_t* header() {
    for (std::uint64_t* at = __ring_start; at != __ring_end; ++at) {
        if (*at == 0x6e6f'7073'636f'7031) return at;
    }
    hal::panic("reset: no header");
}
static void spoil_records() {
    const std::uint64_t* const kept = header();
    constexpr unsigned ring_log2 = NOPSCOPE_RING_LOG2;
    auto* const ring = reinterpret_cast<std::uint64_t*>(kept[2] ^ ring_log2);
    constexpr std::uint64_t slots = (std::uint64_t{1} << ring_log2) / 8;
    // Sets a record's high half, and XORs the lap into it, as tracer/core/ring.hpp does.
    const auto spoil = [&](std::uint64_t back, std::uint64_t high) {
        const std::uint64_t position = kept[11] - 8 * back;
        const std::uint64_t mask = (position >> (ring_log2 - 2) & 0xffff'ffff) << 32;
        std::uint64_t& slot = ring[position / 8 % slots];
        slot = ((slot & 0xffff'ffff) | high) ^ mask;
    };
    constexpr std::uint64_t entry = std::uint64_t{1} << 32, ret = std::uint64_t{2} << 32;
    constexpr std::uint64_t extended = std::uint64_t{3} << 32;
    spoil(1000, entry | std::uint64_t{0xdead} << 35);    // site that does not exist
    spoil(2000, ret | std::uint64_t{0x7ff'ffff} << 36);  // entry that does not exist
    spoil(3000, extended | std::uint64_t{14} << 35);     // unknown kind
}

static void run_first() {
    for (unsigned i = 0; i < 30000; ++i) {
        branch(i % 50);
        if (i % 100 == 0) nopscope::pump();
    }
    before_the_reset();
    if (!is_given("sudden")) nopscope::prepare_reset();
    if (is_given("header")) header()[9] ^= 1;
    if (is_given("records")) spoil_records();
    hal::uart_drain();
    hal::reset();
}

int main() {
    auto config = board_config("reset");
    config.mode = nopscope::Mode::flight;
    config.recorder = nopscope::Recorder::graph;
    config.keep_over_reset = !is_given("forget");  // QEMU's memory survives on each board
    const bool again = boots++ == 1;
    if (!again) boots = 1;
    image::start_tracer(config);
    if (!again) run_first();
    const auto counters = nopscope::counters();
    std::printf("reset: %u records of before, %u refused, %u headers refused\n",
                unsigned(counters.reset_records), unsigned(counters.reset_refused),
                unsigned(counters.reset_headers_refused));
    after_the_reset();
    nopscope::finish();
    return 0;
}
