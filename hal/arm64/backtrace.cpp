// SPDX-License-Identifier: Apache-2.0
// A backtrace by frame records {caller's record, return address} (AAPCS64, 6.4.6). Return addresses
// may be signed (PAC), and may be the tracer's return hook instead of the caller.
#include "hal/arm64/backtrace.hpp"

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
    const auto within = [record](const char* low, const char* high) {
        return record >= address_of(low) && record <= address_of(high) - sizeof(FrameRecord);
    };
    return record % 8 == 0 && (within(__stack_low, __stack_high) ||
                               within(__emergency_stack_low, __emergency_stack_high));
}

}  // namespace

void set_return_hook(const ReturnHook& hook) {
    const InterruptsMasked masked;
    return_hook.hook = hook.hook;
    return_hook.resolve = hook.resolve;
}

void print_backtrace(std::uint64_t record, unsigned first) {
    unsigned hooked = 0;
    for (unsigned i = first; i < most_frames; ++i) {
        if (!is_on_a_stack(record)) return;
        const auto* frame = reinterpret_cast<const FrameRecord*>(record);
        std::uint64_t address = without_pac(frame->return_address);
        if (address == 0) return;
        const bool was_hooked = return_hook.resolve != nullptr && address == return_hook.hook;
        if (was_hooked) address = return_hook.resolve(hooked++);
        print("  #");
        print_decimal(i);
        print(i < 10 ? "  " : " ");
        print_hex(address);
        print(was_hooked ? " (traced)\n" : "\n");
        const std::uint64_t caller = frame->caller_record;
        if (caller <= record) return;  // stacks grow down, so callers lie above
        record = caller;
    }
    print("  ...\n");
}

}  // namespace nopscope::hal
