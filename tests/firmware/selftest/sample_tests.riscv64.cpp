// SPDX-License-Identifier: Apache-2.0
// Samples in leaf functions. GCC 12 stores their caller's s0 where others have the return address.
#include "nopscope/samples.hpp"
#include "tests/firmware/selftest/machine.hpp"
#include "tests/firmware/selftest/tracing.hpp"

SELFTEST("samples.in_a_leaf_function_have_its_callers_caller") {
    REQUIRE(tracer_is_up());
    const Recording recording = record([] {
        const std::uint64_t pc = hal::address_of(__text_start);
        hal::FrameRecord records[2];
        SampledRegisters at;
        at.set_frame(hal::address_of(&records[1]));
        records[0] = {.caller_record = 0x5555, .return_address = at.frame()};
        records[1] = {.caller_record = 0, .return_address = pc + 6};
        at.set_frame(hal::address_of(&records[0]));
        sample({at.x, hal::address_of(records), pc});
    });
    REQUIRE(recording.events.size() == 3);
    REQUIRE(protocol::sampled_offset(recording.events[2].data, instruction_bytes) == 6);
}
