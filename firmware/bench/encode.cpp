// SPDX-License-Identifier: Apache-2.0
// bench-encode.elf: how many instructions the codec needs on this target to pack a trace.
//
// Command-line word: records=N. The records (protocol::StampedRecord, 16 bytes each) are
// `trace_offset` after the image's start, where the loader puts them. nopscope-codec-bench
// --write-records makes them. The frames here are equal to those of its --write-line.
#include "firmware/bench/measure.hpp"
#include "hal/hal.hpp"
#include "tracer/protocol/trace_group.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace {

using namespace nopscope::protocol;

constexpr std::uint64_t trace_offset = 32 << 20;  // from the image's first byte
TraceEncoder encoder;
FrameBuilder builder;
Byte line[8 << 20];  // all frames

struct Encoded {
    std::uint64_t frames, bytes;
};

Encoded encode(const StampedRecord* record, const StampedRecord* end) {
    Encoded so_far{};
    while (record != end && so_far.bytes + max_encoded_bytes <= sizeof line) {
        encoder.begin(builder.payload(),
                      {.index = encoder.next_index(),
                       .clock = so_far.frames == 0 ? record->clock : encoder.clock()});
        encoder.fill(static_cast<std::size_t>(end - record),
                     [&](Record& next, std::uint64_t& clock) {
                         next = record->record;
                         clock = record->clock;
                         ++record;
                         return true;
                     });
        const auto sequence = static_cast<std::uint32_t>(so_far.frames++);
        so_far.bytes +=
            builder.encode({Stream::trace, 0, 1, sequence}, encoder.end(), line + so_far.bytes);
    }
    return so_far;
}

}  // namespace

int main() {
    extern char __image_start[];
    const char* const word = strstr(nopscope::hal::command_line(), "records=");
    const std::size_t records =
        word == nullptr ? 0 : strtoull(word + strlen("records="), nullptr, 10);
    const bool counts = bench::start_counters();
    const auto* const trace = reinterpret_cast<const StampedRecord*>(__image_start + trace_offset);
    Encoded encoded{};
    const bench::Reading cost = bench::cost_of([&] { encoded = encode(trace, trace + records); });
    printf(
        "@bench {\"case\": \"encode\", \"compiler\": \"%s\", \"counted\": %s, \"instructions\": "
        "%lu, "
        "\"per\": %lu, \"frames\": %lu, \"bytes\": %lu, \"crc\": %lu}\n",
        __VERSION__, counts ? "true" : "false", static_cast<unsigned long>(cost.instructions),
        static_cast<unsigned long>(records), static_cast<unsigned long>(encoded.frames),
        static_cast<unsigned long>(encoded.bytes),
        static_cast<unsigned long>(crc32c(line, encoded.bytes)));
    fflush(stdout);
    nopscope::hal::exit(records == 0);
}
