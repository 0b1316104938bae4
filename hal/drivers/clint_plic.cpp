// SPDX-License-Identifier: Apache-2.0
#include "hal/drivers/clint_plic.hpp"

#include "hal/arch.hpp"
#include "hal/drivers/lines.hpp"
#include "hal/drivers/mmio.hpp"
#include "hal/hal.hpp"
#include "hal/riscv64/registers.hpp"

namespace nopscope::hal {

namespace {

constexpr unsigned msip = 0;           // one word a hart
constexpr unsigned mtimecmp = 0x4000;  // 64 bits a hart

constexpr unsigned plic_priority = 0;     // one word a source, from source 1; 0: never
constexpr unsigned plic_enable = 0x2000;  // a bit a source; 0x80 bytes a context
constexpr unsigned plic_context =
    0x20'0000;  // 0x1000 bytes a context: threshold, claim and complete
constexpr unsigned plic_claim = 4;
constexpr unsigned sources = 128;  // of 1024: those of our boards

struct alignas(64) Core {
    Lines own;                              // interrupts 0..31
    std::atomic<std::uint32_t> raised = 0;  // software interrupts that are not handled yet
    std::uint8_t running = nothing_runs;    // the priority of the running handler
};
// constinit: a static constructor would run after the first interrupts, and reset these.
constinit Core cores[max_cores];
std::uint8_t source_priority[sources];  // as enable() was told
std::uint32_t most_priority;            // the PLIC's most urgent

bool is_shared(unsigned interrupt) {
    const bool is_own = interrupt < 16 || interrupt == timer_interrupt;
    if (!is_own && interrupt - first_shared_interrupt - 1 >= sources - 1)
        panic("plic: no such interrupt");
    return !is_own;
}

std::uint64_t context_of(std::uint64_t plic, unsigned core) {
    return plic + plic_context + 0x2000 * std::uint64_t{core};
}

// The PLIC's priority of an interrupt, or its threshold while such an interrupt runs: it delivers
// what is above.
std::uint32_t plic_value(std::uint8_t priority) {
    if (priority >= priority_mask) return 0;
    const unsigned number = priority >> 4;
    return most_priority - number * most_priority / priorities;
}

}  // namespace

void clint_compare(std::uint64_t clint, unsigned core, std::uint64_t at) {
    write64(clint + mtimecmp + 8 * std::uint64_t{core}, at);
    device_barrier();
}

unsigned plic_priorities(std::uint64_t plic) {
    write32(plic + plic_priority + 4, ~0u);
    return read32(plic + plic_priority + 4);
}

void ClintPlic::start() const {
    most_priority = plic_priorities(plic_);
    for (unsigned source = 1; source < sources; ++source) {
        write32(plic_ + plic_priority + 4 * source, 0);
        if (source % 32 == 0) write32(plic_ + plic_enable + source / 8, ~0u);
    }
    write32(plic_ + plic_enable, ~1u);
}

void ClintPlic::start_core() const {
    const unsigned core = this_core();
    cores[core].running = nothing_runs;
    write32(clint_ + msip + 4 * core, 0);
    write32(context_of(plic_, core), 0);
    write_mie(machine_software | machine_external);
}

void ClintPlic::stop_core() const { write_mie(0); }

// All sources are enabled, and one without priority never interrupts: the PLIC ignores the
// completion of a source that its handler has disabled.
bool ClintPlic::enable(unsigned interrupt, std::uint8_t priority) const {
    if (is_shared(interrupt)) {
        const unsigned source = interrupt - first_shared_interrupt;
        source_priority[source] = priority;
        write32(plic_ + plic_priority + 4 * source, plic_value(priority));
    } else {
        Lines& own = cores[this_core()].own;
        own.priority[interrupt] = priority;
        own.enabled.fetch_or(bit(interrupt), std::memory_order_relaxed);
        open_more_urgent_than_running(this_core());
    }
    return true;
}

void ClintPlic::disable(unsigned interrupt) const {
    const InterruptsMasked masked;
    if (is_shared(interrupt)) {
        const unsigned source = interrupt - first_shared_interrupt;
        write32(plic_ + plic_priority + 4 * source, 0);
        device_barrier();
    } else {
        cores[this_core()].own.enabled.fetch_and(~bit(interrupt), std::memory_order_relaxed);
        open_more_urgent_than_running(this_core());
    }
}

void ClintPlic::open_more_urgent_than_running(unsigned core) const {
    Core& here = cores[core];
    const std::uint64_t own = here.own.enabled_and_more_urgent(here.running);
    if ((here.raised.load(std::memory_order_relaxed) & own) != 0)
        write32(clint_ + msip + 4 * core, 1);
    if ((own & bit(timer_interrupt)) != 0)
        set_mie(machine_timer);
    else
        clear_mie(machine_timer);
    write32(context_of(plic_, core), plic_value(here.running));
    device_barrier();  // after this a line that was closed here does not interrupt
}

std::uint32_t ClintPlic::acknowledge() const {
    const unsigned core = this_core();
    Core& here = cores[core];
    const std::uint64_t pending = read_mip();
    if ((pending & machine_software) != 0) {
        write32(clint_ + msip + 4 * core, 0);
        device_barrier();  // who raises one from here on sets the bit again
    }
    std::uint64_t own = here.raised.load(std::memory_order_acquire);
    if ((pending & machine_timer) != 0) own |= bit(timer_interrupt);
    own &= here.own.enabled_and_more_urgent(here.running);

    const std::uint8_t before = here.running;
    unsigned interrupt = first_special_interrupt;
    if (own != 0) {
        interrupt = here.own.most_urgent_of(own);
        here.running = here.own.priority[interrupt];
        here.raised.fetch_and(~static_cast<std::uint32_t>(bit(interrupt)),
                              std::memory_order_relaxed);
    } else if ((pending & machine_external) != 0) {
        // A claim ignores the threshold: what was above it may be gone.
        const std::uint64_t claim = context_of(plic_, core) + plic_claim;
        const std::uint32_t source = read32(claim);
        if (source != 0 && source < sources && source_priority[source] < here.running) {
            interrupt = first_shared_interrupt + source;
            here.running = source_priority[source];
        } else if (source != 0) {
            write32(claim, source);
        }
    }
    open_more_urgent_than_running(core);
    return interrupt | std::uint32_t{before} << running_before;
}

void ClintPlic::finish(std::uint32_t acknowledged) const {
    device_barrier();  // completes the handler's writes to its device
    const unsigned core = this_core();
    const unsigned interrupt = acknowledged & 0x3ff;
    if (interrupt >= first_shared_interrupt)
        write32(context_of(plic_, core) + plic_claim, interrupt - first_shared_interrupt);
    cores[core].running = static_cast<std::uint8_t>(acknowledged >> running_before);
    open_more_urgent_than_running(core);
}

void ClintPlic::raise_interrupt(unsigned core, unsigned number) const {
    cores[core].raised.fetch_or(1u << number, std::memory_order_release);
    device_barrier();
    write32(clint_ + msip + 4 * core, 1);
}

}  // namespace nopscope::hal
