// SPDX-License-Identifier: Apache-2.0
// Semihosting ("Semihosting for AArch32 and AArch64", 2.0): how an image gets its command line from
// a debugger or QEMU, and how it ends.
#include "hal/arm64/semihosting.hpp"

#include "hal/arm64/asm.hpp"
#include "hal/arm64/psci.hpp"
#include "hal/arm64/registers.hpp"
#include "hal/board.hpp"
#include "hal/cores.hpp"
#include "hal/hal.hpp"
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
    if (frame.elr != address_of(nopscope_semihosting_hlt)) return false;
    if (Esr{frame.esr}.exception_class() != static_cast<unsigned>(ExceptionClass::unknown)) {
        return false;
    }
    unanswered = true;
    frame.elr += instruction_bytes;
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
    psci(psci_system_off);
    for (;;) wait_for_interrupt();
}

void reset() {
    stop_other_cores();
    uart_drain();
    if (board.reset != nullptr) board.reset();
    psci(psci_system_reset);
    for (;;) wait_for_interrupt();
}

const char* board_name() { return board.name; }
bool memory_survives_reset() { return board.memory_survives_reset; }

}  // namespace nopscope::hal
