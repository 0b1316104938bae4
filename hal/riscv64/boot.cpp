// SPDX-License-Identifier: Apache-2.0
// The C++ half of boot. Memory has one protection that machine mode feels: locked PMP entries make
// the pages below this core's stacks guards. Text stays writable, because the tracer writes it and
// a locked entry stays until reset.
#include "hal/boot_report.hpp"
#include "hal/console.hpp"
#include "hal/cores.hpp"
#include "hal/hal.hpp"
#include "hal/parts.hpp"
#include "hal/riscv64/asm.hpp"
#include "hal/riscv64/registers.hpp"
#include "hal/symbols.hpp"

namespace nopscope::hal {

namespace {

void guard_stacks() {
    constexpr std::uint64_t locked_page = 0x98;  // L, NAPOT, no access
    const auto page_below = [](const StackBounds& stack) {
        return (stack.low - page_bytes) >> 2 | (page_bytes / 8 - 1);
    };
    write_pmpaddr0(page_below(emergency_stack_bounds(0)));
    write_pmpaddr1(page_below(stack_bounds(0)));
    write_pmpcfg0(locked_page << 8 | locked_page);
}

}  // namespace

HeapBounds heap_bounds() {
    return {.low = address_of(__heap_start), .high = address_of(__heap_end)};
}

}  // namespace nopscope::hal

using namespace nopscope::hal;

void nopscope_boot_early(std::uint64_t device_tree) {
    guard_stacks();
    uart_start();
    print_boot_report("M", device_tree);
    uart_go_on_at_board_rate();
}
