// SPDX-License-Identifier: Apache-2.0
// A storm from a host, by commands over the line (tests/verification/endurance/line_storm.py). All
// cores record, and core 0 pumps, for ever. The word mode=lossless, flight or adaptive selects the
// mode; without it: stream.
#include "tests/firmware/storm/storm.hpp"

namespace storm {

namespace hal = nopscope::hal;

static nopscope::Mode mode() {
    if (image::is_given("mode=lossless")) return nopscope::Mode::lossless;
    if (image::is_given("mode=flight")) return nopscope::Mode::flight;
    return image::is_given("mode=adaptive") ? nopscope::Mode::adaptive : nopscope::Mode::stream;
}

void run_line(unsigned bytes_per_second) {
    nopscope::Config config = board_config("storm");
    config.cores = used;
    config.line_bytes_per_second = bytes_per_second;
    config.input = {.try_read = hal::uart_try_read,
                    .interrupted_pc = hal::interrupted_pc,
                    .baud = hal::uart_baud(),
                    .set_baud = hal::uart_set_baud,
                    .reset = hal::reset};
    config.mode = mode();
    config.recorder = nopscope::Recorder::graph;
    if (config.mode == nopscope::Mode::adaptive)
        config.profile_memory = image::profile_memory(used);
    config.interrupt_depth = hal::interrupt_depth_of;
    config.panic = hal::panic;
    image::must(nopscope::init(config));
    hal::uart_listen(7);
    if (!start_victims()) hal::panic("storm: a core does not start");
    Random random(5);
    for (;;) {
        call_some(0, 0, calls_at_once, random);
        nopscope::pump();
    }
}

}  // namespace storm
