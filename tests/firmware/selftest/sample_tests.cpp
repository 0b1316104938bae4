// SPDX-License-Identifier: Apache-2.0
// Samples follow frame records, and end. tests/e2e/samples_test.py checks the callers' names.
#include "hal/arm64/symbols.hpp"
#include "nopscope/samples.hpp"
#include "tests/firmware/selftest/tracing.hpp"

namespace {

constexpr unsigned sgi = 3;

void take_sample(unsigned) {
    const hal::InterruptedRegisters at = hal::interrupted_registers();
    sample({at.x, at.sp, at.pc});
}

[[gnu::noinline]] unsigned deep(unsigned calls) {
    if (calls == 0) {
        hal::enable_interrupts();
        hal::raise_sgi(sgi);
        hal::disable_interrupts();
        return 0;
    }
    const unsigned result = deep(calls - 1);
    asm volatile("");  // not a loop
    return result + 1;
}

struct Sample {
    std::uint32_t argument = 0;
    unsigned addresses = 0;
    unsigned in_text = 0;
};
bool only_sample(const Recording& recording, Sample& sample) {
    if (!recording.well_formed || recording.events.empty()) return false;
    sample.argument = recording.events[0].argument;
    for (const protocol::Event& event : recording.events.subspan(1)) {
        if (event.extended != protocol::Extended::data) return false;
        const auto address = hal::address_of(__text_start) +
                             static_cast<std::uint64_t>(protocol::sampled_offset(event.data));
        ++sample.addresses;
        sample.in_text +=
            address >= hal::address_of(__text_start) && address <= hal::address_of(__text_end);
    }
    return recording.events[0].extended == protocol::Extended::sample &&
           sample.addresses == protocol::sample_addresses(sample.argument);
}

}  // namespace

SELFTEST("samples.a_few_callers") {
    REQUIRE(tracer_is_up());
    hal::set_handler(sgi, 8, take_sample);
    Sample sample;
    REQUIRE(only_sample(record([] { (void)deep(5); }), sample));
    REQUIRE(sample.addresses >= 8 && sample.addresses < max_sampled_addresses);
    REQUIRE(sample.in_text == sample.addresses && !protocol::sample_is_cut(sample.argument));
}

SELFTEST("samples.of_many_callers_the_outermost_are_cut") {
    REQUIRE(tracer_is_up());
    Sample sample;
    REQUIRE(only_sample(record([] { (void)deep(40); }), sample));
    REQUIRE(sample.addresses == max_sampled_addresses && protocol::sample_is_cut(sample.argument));
}

SELFTEST("samples.what_is_no_frame_record_is_not_followed") {
    REQUIRE(tracer_is_up());
    const Recording recording = record([] {
        std::uint64_t x[31] = {};
        const std::uint64_t pc = hal::address_of(__text_start);
        const auto sp = reinterpret_cast<std::uint64_t>(&x[0]);
        // Unmapped, below SP, misaligned, and a record that points to itself.
        for (const std::uint64_t record : {std::uint64_t{16}, sp - 64, sp + 4, sp}) {
            x[29] = record;
            x[0] = sp;
            x[1] = pc + 4;
            sample({x, sp, pc});
        }
    });
    REQUIRE(recording.events.size() == 3 * 2 + 3);
}

SELFTEST("samples.none_while_stopped") {
    REQUIRE(tracer_is_up());
    const Recording recording = record([] {
        stop();
        (void)deep(1);
        start();
    });
    REQUIRE(recording.events.empty());
    hal::disable_interrupt(sgi);
}
