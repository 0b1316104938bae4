// SPDX-License-Identifier: Apache-2.0
// A backtrace by frame records {caller's record, return address}. A return address may be the
// tracer's return hook instead of the caller.
#include "hal/backtrace.hpp"

#include "hal/console.hpp"
#include "hal/cores.hpp"
#include "hal/hal.hpp"
#include "hal/parts.hpp"
#include "hal/symbols.hpp"

namespace nopscope::hal {

namespace {

constexpr unsigned most_frames = 32;
ReturnHook return_hook;

bool is_returned_to_by(std::uint64_t record, std::uint64_t address) {
    return is_on_a_stack(record) && record_at(record).return_address == address;
}
// Up to where a call's SP can be if its return address is in no record yet.
std::uint64_t before_records(std::uint64_t record) {
    if (is_on_a_stack(record)) (void)record_at(record);
    return record + record_offset;
}

bool is_hook(std::uint64_t address) {
    return return_hook.is_return_hook != nullptr && return_hook.is_return_hook(address);
}

void print_hooked(std::uint64_t low, std::uint64_t high) {
    print_hex(return_hook.hooked_return_address_of(low, high));
    print(" (traced)");
}

void print_link(const BacktraceStart& start) {
    const std::uint64_t link = plain_address(start.link);
    const bool hooked = is_hook(link);
    const std::uint64_t high = before_records(start.record);
    if (hooked) {
        // 0: the register is stale. The innermost hooked call has a record, and its line comes.
        if (return_hook.hooked_return_address_of(start.sp, high) == 0) return;
    } else if (!is_text(link) || is_returned_to_by(start.record, link)) {
        return;
    }
    print("  ");
    print(start.link_name);
    print(" ");
    if (hooked)
        print_hooked(start.sp, high);
    else
        print_hex(link);
    print(" (the caller, where #0 has no frame of its own)\n");
}

void print_entry_link(const BacktraceStart& start) {
    const std::uint64_t caller = plain_address(start.entry_link);
    print("  ");
    print(start.entry_link_name);
    print(" ");
    // A hooked function jumped here. Its call is the innermost hooked one and has the caller.
    if (is_hook(caller))
        print_hooked(start.sp, ~std::uint64_t{0});
    else
        print_hex(caller);
    print(" (the caller of what #0 traces)\n");
}

}  // namespace

bool is_entry_code(std::uint64_t pc) {
    return return_hook.is_entry_code != nullptr && return_hook.is_entry_code(pc);
}

bool is_on_a_stack(std::uint64_t record) {
    const std::uint64_t from = record + record_offset;
    const auto within = [from](const StackBounds& stack) {
        return from >= stack.low && from <= stack.high - sizeof(FrameRecord);
    };
    for (unsigned core = 0; core < max_cores; ++core) {
        if (within(stack_bounds(core)) || within(emergency_stack_bounds(core))) {
            return from % 8 == 0;
        }
    }
    return false;
}

void set_return_hook(const ReturnHook& hook) {
    const InterruptsMasked masked;
    return_hook.is_return_hook = hook.is_return_hook;
    return_hook.hooked_return_address_of = hook.hooked_return_address_of;
    return_hook.is_entry_code = hook.is_entry_code;
}

void print_backtrace(const BacktraceStart& start) {
    if (start.link_name != nullptr) print_link(start);
    if (start.entry_link_name != nullptr && is_entry_code(start.pc)) print_entry_link(start);
    std::uint64_t record = start.record;
    for (unsigned i = start.first; i < most_frames; ++i) {
        if (!is_on_a_stack(record)) return;
        const auto [caller, address] = record_at(record);
        if (address == 0) return;
        print("  #");
        print_decimal(i);
        print(i < 10 ? "  " : " ");
        if (is_hook(address))
            print_hooked(record + record_offset + 1, ~std::uint64_t{0});
        else
            print_hex(address);
        print("\n");
        if (caller <= record) return;  // stacks grow down: a caller's record lies above
        record = caller;
    }
    print("  ...\n");
}

}  // namespace nopscope::hal
