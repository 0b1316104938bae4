// SPDX-License-Identifier: Apache-2.0
// endless.elf: a firmware that never ends: the host chooses the end of its recording. All of it
// runs in thread context, also the pump. So when a command stops tracing, only forever() is open.
// Command-line words: adaptive: that mode instead of lossless. profile: that recorder instead of
// graph. deaf: takes no commands. baud=N: the line's pace (0: none).
#include "tests/firmware/image.hpp"

namespace hal = nopscope::hal;

namespace {

alignas(128) std::byte profile_memory[1 << 20];
volatile std::uint32_t sink;

[[gnu::noinline]] void leaf(std::uint32_t n) { sink = sink * 5 + n; }
[[gnu::noinline]] void second_leaf(std::uint32_t n) { sink = sink ^ n; }
[[gnu::noinline]] void middle(std::uint32_t n) {
    for (std::uint32_t i = 0; i < n % 7; ++i) leaf(i);
    second_leaf(n);
}
[[gnu::noinline]] void recursive(std::uint32_t n) {
    if (n != 0) recursive(n - 1);
    sink = n;
}
[[gnu::noinline]] void outer(std::uint32_t n) {
    middle(n);
    recursive(n % 5);
}
[[gnu::noinline]] void forever() {
    for (std::uint32_t n = 0;; ++n) {
        outer(n);
        if (n % 16 == 0) nopscope::pump();
    }
}

NOPSCOPE_NOTRACE void start() {
    const char* const baud = std::strstr(hal::command_line(), "baud=");
    const bool adaptive = image::is_given("adaptive"), profiles = image::is_given("profile");
    nopscope::Config config = board_config("endless");
    config.line_bytes_per_second =
        (baud != nullptr ? std::strtoul(baud + 5, nullptr, 10) : hal::uart_baud()) / 10;
    if (!image::is_given("deaf")) {
        config.input.try_read = hal::uart_try_read;
        config.input.interrupted_pc = hal::interrupted_pc;
    }
    config.mode = adaptive ? nopscope::Mode::adaptive : nopscope::Mode::lossless;
    config.recorder = profiles ? nopscope::Recorder::profile : nopscope::Recorder::graph;
    config.profile_memory = profile_memory;
    config.interrupt_depth = hal::interrupt_depth_of;
    image::start_tracer(config);
    hal::uart_listen(7);
    hal::enable_interrupts();
}

}  // namespace

NOPSCOPE_NOTRACE int main() {
    start();
    forever();
}
