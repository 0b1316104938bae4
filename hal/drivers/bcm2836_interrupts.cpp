// SPDX-License-Identifier: Apache-2.0
#include "hal/drivers/bcm2836_interrupts.hpp"

#include "hal/arch.hpp"
#include "hal/drivers/lines.hpp"
#include "hal/drivers/mmio.hpp"
#include "hal/hal.hpp"

namespace nopscope::hal {

namespace {

constexpr unsigned videocore_routing = 0x0c;
constexpr unsigned timer_control = 0x40;  // one register a core, 4 bytes apart, as the two below
constexpr unsigned mailbox_control = 0x50;
constexpr unsigned irq_source = 0x60;
constexpr unsigned mailbox_set = 0x80;    // 16 bytes a core: mailboxes 0 to 3; only 0 is used
constexpr unsigned mailbox_clear = 0xc0;  // reads the mailbox; a 1 clears that bit
constexpr std::uint32_t virtual_timer_line = 1 << 3;
constexpr std::uint32_t mailbox_line = 1 << 4;
constexpr std::uint32_t videocore_line = 1 << 8;

constexpr unsigned pending_reg = 0x04;  // two words, like enable and disable (a 1 acts)
constexpr unsigned fiq_control = 0x0c;
constexpr unsigned enable_reg = 0x10;
constexpr unsigned disable_reg = 0x1c;
constexpr unsigned disable_basic = 0x24;

constexpr std::uint32_t sgis = 0xffff;

struct alignas(64) Core {
    Lines own;                 // interrupts 0..31
    std::uint32_t held = 0;    // SGIs taken from the mailbox and not handled yet
    std::uint8_t running = 0;  // the priority of the running handler
    bool timer_is_open = false;
};
// constinit: a static constructor would run after the first interrupts, and reset these.
constinit Core cores[max_cores];
constinit Lines shared;     // core 0 handles them; any core may enable and disable them
std::uint64_t shared_open;  // the lines that core 0 has opened

bool is_shared(unsigned interrupt) {
    const bool is_own = interrupt < 16 || interrupt == timer_interrupt;
    if (!is_own && interrupt - first_shared_interrupt >= 64) panic("bcm2836: no such interrupt");
    return !is_own;
}

}  // namespace

void Bcm2836Interrupts::start() const {
    write32(local_ + videocore_routing, 0);  // IRQ and FIQ to core 0
    write32(videocore_ + fiq_control, 0);
    write32(videocore_ + disable_reg, ~0u);
    write32(videocore_ + disable_reg + 4, ~0u);
    write32(videocore_ + disable_basic, ~0u);
}

void Bcm2836Interrupts::start_core() const {
    constexpr std::uint32_t mailbox_0_by_irq = 1;
    const unsigned core = this_core();
    cores[core].running = nothing_runs;
    cores[core].timer_is_open = false;
    write32(local_ + timer_control + core * 4, 0);
    write32(local_ + mailbox_clear + core * 16, ~0u);
    write32(local_ + mailbox_control + core * 4, mailbox_0_by_irq);
}

void Bcm2836Interrupts::stop_core() const {
    write32(local_ + timer_control + this_core() * 4, 0);
    write32(local_ + mailbox_control + this_core() * 4, 0);
    device_barrier();
}

// A shared line may be opened too early here, for a running handler. acknowledge() closes it again.
bool Bcm2836Interrupts::enable(unsigned interrupt, std::uint8_t priority) const {
    if (is_shared(interrupt)) {
        const unsigned number = interrupt - first_shared_interrupt;
        shared.priority[number] = priority;
        shared.enabled.fetch_or(bit(number), std::memory_order_release);
        write32(videocore_ + enable_reg + number / 32 * 4, 1u << number % 32);
    } else {
        Lines& own = cores[this_core()].own;
        own.priority[interrupt] = priority;
        own.enabled.fetch_or(bit(interrupt), std::memory_order_relaxed);
        open_more_urgent_than_running(this_core());
    }
    return true;
}

void Bcm2836Interrupts::disable(unsigned interrupt) const {
    const InterruptsMasked masked;
    if (is_shared(interrupt)) {
        const unsigned number = interrupt - first_shared_interrupt;
        shared.enabled.fetch_and(~bit(number), std::memory_order_relaxed);
        write32(videocore_ + disable_reg + number / 32 * 4, 1u << number % 32);
        device_barrier();
    } else {
        cores[this_core()].own.enabled.fetch_and(~bit(interrupt), std::memory_order_relaxed);
        open_more_urgent_than_running(this_core());
    }
}

// Writes only registers that change: with many interrupts most calls change nothing.
void Bcm2836Interrupts::open_more_urgent_than_running(unsigned core) const {
    Core& here = cores[core];
    const std::uint64_t own = here.own.enabled_and_more_urgent(here.running);
    if (const auto again = static_cast<std::uint32_t>(here.held & own); again != 0) {
        here.held &= ~again;
        write32(local_ + mailbox_set + core * 16, again);
    }
    const bool open_timer = (own & bit(timer_interrupt)) != 0;
    if (here.timer_is_open != open_timer) {
        here.timer_is_open = open_timer;
        write32(local_ + timer_control + core * 4, open_timer ? virtual_timer_line : 0);
    }
    if (core == 0) open_shared(shared.enabled_and_more_urgent(here.running));
    device_barrier();  // after this a line that was closed here does not interrupt
}

void Bcm2836Interrupts::open_shared(std::uint64_t lines) const {
    if (lines == shared_open) return;
    shared_open = lines;
    for (unsigned word = 0; word < 2; ++word) {
        const auto bits = static_cast<std::uint32_t>(lines >> word * 32);
        write32(videocore_ + disable_reg + word * 4, ~bits);
        write32(videocore_ + enable_reg + word * 4, bits);
    }
}

std::uint32_t Bcm2836Interrupts::acknowledge() const {
    const unsigned core = this_core();
    Core& here = cores[core];
    const std::uint32_t source = read32(local_ + irq_source + core * 4);
    if ((source & mailbox_line) != 0) {
        const std::uint32_t posted = read32(local_ + mailbox_clear + core * 16);
        write32(local_ + mailbox_clear + core * 16, posted);
        here.held |= posted & sgis;
    }
    std::uint64_t own = here.held;
    if ((source & virtual_timer_line) != 0) own |= bit(timer_interrupt);
    own &= here.own.enabled_and_more_urgent(here.running);
    std::uint64_t common = 0;
    if ((source & videocore_line) != 0) {
        common = std::uint64_t{read32(videocore_ + pending_reg + 4)} << 32 |
                 read32(videocore_ + pending_reg);
        shared_open |= common;  // another core may have enabled them
        common &= shared.enabled_and_more_urgent(here.running);
    }

    const std::uint8_t before = here.running;
    unsigned interrupt = first_special_interrupt;
    if (own != 0) {
        interrupt = here.own.most_urgent_of(own);
        here.running = here.own.priority[interrupt];
    }
    if (common != 0) {
        const unsigned number = shared.most_urgent_of(common);
        if (shared.priority[number] < here.running) {
            interrupt = first_shared_interrupt + number;
            here.running = shared.priority[number];
        }
    }
    if (interrupt < 16) {
        // It has left the mailbox. A less urgent line that interrupts later is closed below.
        here.held &= ~(1u << interrupt);
    } else {
        open_more_urgent_than_running(core);
    }
    return interrupt | std::uint32_t{before} << running_before;
}

void Bcm2836Interrupts::finish(std::uint32_t acknowledged) const {
    device_barrier();  // completes the handler's writes to its device
    const unsigned core = this_core();
    cores[core].running = static_cast<std::uint8_t>(acknowledged >> running_before);
    open_more_urgent_than_running(core);
}

void Bcm2836Interrupts::raise_interrupt(unsigned core, unsigned sgi) const {
    device_barrier();
    write32(local_ + mailbox_set + core * 16, 1u << sgi);
}

}  // namespace nopscope::hal
