// SPDX-License-Identifier: Apache-2.0
// Semihosting ("Semihosting for AArch32 and AArch64", 2.0, which "RISC-V Semihosting" refers to):
// how an image gets its command line from a debugger or QEMU, and how it ends.
#include "hal/semihosting.hpp"

#include "hal/board.hpp"
#include "hal/cores.hpp"
#include "hal/hal.hpp"
#include "hal/parts.hpp"
#include "hal/symbols.hpp"

namespace nopscope::hal {

namespace {

constexpr std::uint32_t sys_errno = 0x13;
constexpr std::uint32_t sys_get_cmdline = 0x15;
constexpr std::uint32_t sys_exit_extended = 0x20;
constexpr std::uint64_t adp_stopped_application_exit = 0x20026;

bool answers;
volatile bool unanswered;
char command_line_text[256];

}  // namespace

bool skip_unanswered_semihosting(ExceptionFrame& frame) {
    constexpr std::uint64_t instruction_bytes = 4;
    const std::uint64_t instruction = address_of(nopscope_semihosting_instruction);
    const InterruptedRegisters at = registers_of(frame);
    if (at.pc != instruction || !is_unanswered_semihosting(frame)) return false;
    unanswered = true;
    resume_at(frame, instruction + instruction_bytes, at.sp);
    return true;
}

void probe_semihosting() {
    nopscope_semihosting(sys_errno, nullptr);
    answers = !unanswered;
    if (!answers) return;
    volatile std::uint64_t block[2] = {address_of(command_line_text), sizeof command_line_text};
    if (nopscope_semihosting(sys_get_cmdline, block) != 0) command_line_text[0] = '\0';
}

bool has_semihosting() { return answers; }
const char* command_line() { return command_line_text; }

void exit(int status) {
    stop_other_cores();
    uart_drain();
    if (answers) {
        const volatile std::uint64_t block[2] = {adp_stopped_application_exit,
                                                 static_cast<std::uint64_t>(status)};
        nopscope_semihosting(sys_exit_extended, block);
    }
    if (board.power_off != nullptr) board.power_off(status);
    firmware_power_off();
    for (;;) wait_for_interrupt();
}

void reset() {
    stop_other_cores();
    uart_drain();
    if (board.reset != nullptr) board.reset();
    firmware_reset();
    for (;;) wait_for_interrupt();
}

const char* board_name() { return board.name; }
bool memory_survives_reset() { return board.memory_survives_reset; }

}  // namespace nopscope::hal
