// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nopscope::hal {

// Where a backtrace begins. A name is a register's, as it is printed; null: it is not shown.
struct BacktraceStart {
    std::uint64_t record;    // the frame pointer
    std::uint64_t link = 0;  // the return address of the innermost function
    const char* link_name = nullptr;
    std::uint64_t sp = 0;
    std::uint64_t pc = 0;
    std::uint64_t entry_link = 0;  // in the tracer's code at a function's entry: its caller
    const char* entry_link_name = nullptr;
    unsigned first = 0;  // the number of the first line
};

// Prints the return addresses of the chain of frame records, at most 32 lines. Stops at the first
// implausible record. Prints `link` first, as a possible caller: a leaf function has no frame
// record. Prints the real caller of a call whose return address the tracer has hooked.
void print_backtrace(const BacktraceStart& start);

// Whether the tracer's code at a function's entry is running there.
bool is_entry_code(std::uint64_t pc);
// Whether a frame record lies at `record`, whole and aligned, on a stack.
bool is_on_a_stack(std::uint64_t record);

}  // namespace nopscope::hal
