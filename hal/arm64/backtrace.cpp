// SPDX-License-Identifier: Apache-2.0
// A backtrace by frame records {caller's record, return address} (AAPCS64, 6.4.6). A return address
// may be signed (PAC), and may be the tracer's return hook instead of the caller.
#include "hal/arm64/backtrace.hpp"

#include "hal/arm64/frame.h"
#include "hal/console.hpp"
#include "hal/cores.hpp"
#include "hal/hal.hpp"
#include "hal/symbols.hpp"
#include "tracer/arch/arm64/cpu.hpp"

namespace nopscope::hal {

namespace {

constexpr unsigned most_frames = 32;
ReturnHook return_hook;

std::uint64_t without_pac(std::uint64_t address) { return Cpu::without_pac(address); }

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
    return_hook.is_return_hook = hook.is_return_hook;
    return_hook.hooked_return_address_of = hook.hooked_return_address_of;
    return_hook.is_entry_code = hook.is_entry_code;
}

void print_backtrace(const BacktraceStart& start) {
    const auto is_hook = [](std::uint64_t address) {
        return return_hook.is_return_hook != nullptr && return_hook.is_return_hook(address);
    };
    const auto print_hooked = [](std::uint64_t low, std::uint64_t high) {
        print_hex(return_hook.hooked_return_address_of(low, high));
        print(" (traced)");
    };
    std::uint64_t record = start.record;
    const std::uint64_t link = without_pac(start.link);
    if (is_hook(link)) {
        // 0: x30 is stale. The innermost hooked call has a record, and the loop below prints it.
        if (return_hook.hooked_return_address_of(start.sp, record) != 0) {
            print("  x30 ");
            print_hooked(start.sp, record);
            print(" (the caller, where #0 has no frame of its own)\n");
        }
    } else if (is_text(link) && !is_returned_to_by(record, link)) {
        print("  x30 ");
        print_hex(link);
        print(" (the caller, where #0 has no frame of its own)\n");
    }
    if (return_hook.is_entry_code != nullptr && return_hook.is_entry_code(start.pc)) {
        const std::uint64_t caller = without_pac(start.x9);
        print("  x9 ");
        // A hooked function jumped here. Its call is the innermost hooked one and has the caller.
        if (is_hook(caller))
            print_hooked(start.sp, ~std::uint64_t{0});
        else
            print_hex(caller);
        print(" (the caller of what #0 traces)\n");
    }
    for (unsigned i = start.first; i < most_frames; ++i) {
        if (!is_on_a_stack(record)) return;
        const auto* frame = reinterpret_cast<const FrameRecord*>(record);
        const std::uint64_t address = without_pac(frame->return_address);
        if (address == 0) return;
        print("  #");
        print_decimal(i);
        print(i < 10 ? "  " : " ");
        if (is_hook(address))
            print_hooked(record + 1, ~std::uint64_t{0});
        else
            print_hex(address);
        print("\n");
        const std::uint64_t caller = frame->caller_record;
        if (caller <= record) return;  // stacks grow down: a caller's record lies above
        record = caller;
    }
    print("  ...\n");
}

}  // namespace nopscope::hal
