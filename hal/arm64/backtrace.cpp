// SPDX-License-Identifier: Apache-2.0
// A backtrace by frame records {caller's record, return address} (AAPCS64, 6.4.6). Return addresses
// may be signed (PAC), and may be the tracer's return hook instead of the caller.
#include "hal/arm64/backtrace.hpp"

#include "hal/arm64/cores.hpp"
#include "hal/arm64/frame.h"
#include "hal/arm64/symbols.hpp"
#include "hal/console.hpp"
#include "hal/hal.hpp"

namespace nopscope::hal {

namespace {

constexpr unsigned most_frames = 32;
ReturnHook return_hook;

// XPACLRI: a NOP where there is no PAC.
std::uint64_t without_pac(std::uint64_t address) {
    register std::uint64_t x30 asm("x30") = address;
    asm("hint #7" : "+r"(x30));
    return x30;
}

bool is_on_a_stack(std::uint64_t record) {
    const auto within = [record](const StackBounds& stack) {
        return record >= stack.low && record <= stack.high - sizeof(FrameRecord);
    };
    for (unsigned core = 0; core < max_cores; ++core) {
        if (within(stack_bounds(core)) || within(emergency_stack_bounds(core))) {
            return record % 8 == 0;
        }
    }
    return false;
}

bool is_returned_to_by(std::uint64_t record, std::uint64_t address) {
    return is_on_a_stack(record) &&
           without_pac(reinterpret_cast<const FrameRecord*>(record)->return_address) == address;
}

}  // namespace

void set_return_hook(const ReturnHook& hook) {
    const InterruptsMasked masked;
    return_hook.hook = hook.hook;
    return_hook.resolve = hook.resolve;
}

void print_backtrace(std::uint64_t record, std::uint64_t link, unsigned first) {
    unsigned hooked = 0;
    // Prints one return address, the real one where it is the hook's.
    const auto print_caller = [&hooked](std::uint64_t address) {
        const bool is_hooked = return_hook.resolve != nullptr && address == return_hook.hook;
        print_hex(is_hooked ? return_hook.resolve(hooked++) : address);
        if (is_hooked) print(" (traced)");
    };
    link = without_pac(link);
    if (is_text(link) && !is_returned_to_by(record, link)) {
        print("  x30 ");
        print_caller(link);
        print(" (the caller, where #0 has no frame of its own)\n");
    }
    for (unsigned i = first; i < most_frames; ++i) {
        if (!is_on_a_stack(record)) return;
        const auto* frame = reinterpret_cast<const FrameRecord*>(record);
        const std::uint64_t address = without_pac(frame->return_address);
        if (address == 0) return;
        print("  #");
        print_decimal(i);
        print(i < 10 ? "  " : " ");
        print_caller(address);
        print("\n");
        const std::uint64_t caller = frame->caller_record;
        if (caller <= record) return;  // stacks grow down, so callers lie above
        record = caller;
    }
    print("  ...\n");
}

}  // namespace nopscope::hal
