// SPDX-License-Identifier: Apache-2.0
// Sentences and lines about a whole report: what the target says of itself, what is missing, what
// recording took.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host-tools/figures/report/report.hpp"

namespace nopscope::host {

// Converts an overhead of a hello, in 1/256 ticks.
double overhead_ns(std::int32_t fixed, std::uint64_t clock_hz);
const char* clock_name(const Report& report);
const char* recorder_name(std::size_t index);     // protocol::overhead_index()
std::string in_force_text(const TargetRow& row);  // "graph, lossless"

// Which recorders and mode were in force, and when: "graph, lossless until 1.2 s; then profile,
// adaptive". For an older target: adaptive if it ever was, else its first mode.
std::string mode_text(const Report& report);
// "680 ms recorded: 34.0 ms of the program, 646 ms of the tracer". In lossless mode: "34.0 ms of
// the program recorded; it stood still for 646 ms while the tracer sent".
std::string recorded_text(const Report& report);

// A line above the tables; there is none for a topic without news.
struct HeadLine {
    const char* name;
    std::string text;
    bool spoils;  // the report lacks figures
};
std::vector<HeadLine> head_lines(const Report& report);

// The facts that a recording of this target will lack, one sentence each.
std::vector<std::string> shortcomings(const HelloInfo& hello);

// "integrity: generated 9 = delivered 9 + dropped 0 + lost 0; corrupt_frames 0, gaps 0", and all
// other counters that are not zero.
std::string integrity_line(const Integrity& integrity);
std::string beyond_shadow_stack(std::uint64_t calls);
std::string loss_line(const Report& report);    // empty: nothing is missing
std::string others_line(const Report& report);  // empty: all items had room
// The overhead per call that was subtracted from the times in the text, or why none was.
std::string overhead_line(const Report& report);

}  // namespace nopscope::host
