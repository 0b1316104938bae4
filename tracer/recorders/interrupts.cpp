// SPDX-License-Identifier: Apache-2.0
#include "tracer/recorders/interrupts.hpp"

#include "nopscope/nopscope.hpp"
#include "tracer/arch/instructions.hpp"
#include "tracer/core/here.hpp"
#include "tracer/core/ring.hpp"
#include "tracer/core/tracer_time.hpp"

namespace nopscope {

namespace {

constinit Machine machine;

using Work = TracerWork<Machine>;

// In what interrupt_begin() returns, beside the record's position: the tracer's work was cut.
constexpr std::uint64_t cut_work = 1;
// The tracer's work on this core ends for the host when an interrupt of it begins. Otherwise the
// time of a pump in the interrupt would be the interrupt's. Returns whether the work begins again
// when the interrupt ends.
bool cut(Core& core) {
    if (core.tracer_marked == 0 || !put_own(machine, core, protocol::Extended::tracer_end))
        return false;
    return std::exchange(core.tracer_marked, 0) == static_cast<std::uint32_t>(Work::Mark::whole);
}
void mend(Core& core) {
    if (put_own(machine, core, protocol::Extended::tracer_begin))
        core.tracer_marked = static_cast<std::uint32_t>(Work::Mark::whole);
}

// Returns the caller's address if `address` is a hook. `sp`: below the traced function's frame.
std::uint64_t real_address(std::uint64_t address, std::uint64_t sp) {
    if (!is_return_hook(address)) return address;
    const std::uint64_t real = hooked_return_address_of(sp, ~std::uint64_t{0});
    return real != 0 ? real : address;
}

}  // namespace

std::uint64_t interrupt_begin(std::uint32_t number) {
    return interrupt_begin_at(number, reinterpret_cast<std::uint64_t>(__builtin_return_address(0)));
}

std::uint64_t interrupt_begin_at(std::uint32_t number, std::uint64_t where) {
    interrupts_masked(where);
    const Here here;
    Core* const core = here.joined();
    if (core == nullptr || is_stopped(*core) || core->aggregates != 0) return 0;
    const bool is_cut = cut(*core);
    std::uint64_t position = 0;
    (void)put_in_context(
        machine, *core,
        [&](std::uint64_t limit) {
            const auto claim = ring_claim(machine, *core, record_bytes, limit);
            if (!claim) return false;
            const protocol::Record record =
                protocol::make_extended(protocol::Extended::interrupt, number, claim->clock);
            ring_store(*core, position = claim->position, record.word);
            return true;
        },
        interrupt_limit);
    if (position == 0) {
        add_one(core->dropped);
        if (is_cut) mend(*core);
        return 0;
    }
    return position | (is_cut ? cut_work : 0);
}

void interrupt_end(std::uint64_t begun) {
    interrupts_unmasked();
    const Here here;
    Core* const core = here.joined();
    if (core == nullptr || begun == 0) return;
    const auto index = static_cast<std::uint32_t>(record_index(begun)) & protocol::entry_index_mask;
    (void)ring_put(machine, *core, protocol::make_record(protocol::Kind::ret, index << 1, 0),
                   own_limit(*core));
    if ((begun & cut_work) != 0) mend(*core);
}

void interrupts_masked(std::uint64_t where) {
    const Here here;
    Core* const core = here.joined();
    if (core == nullptr || core->masked_since != 0) return;
    core->masked_where =
        real_address(where, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
    core->masked_since = machine.clock();
}

void interrupts_unmasked() {
    const Here here;
    Core* const core = here.joined();
    if (core == nullptr || core->masked_since == 0) return;
    const std::uint64_t ticks = machine.clock() - core->masked_since;
    core->masked_since = 0;
    if (ticks <= core->longest_masked || is_stopped(*core)) return;
    core->longest_masked = ticks;
    const std::uint64_t data[] = {protocol::sampled_address(core->masked_where - hello.text_base,
                                                            unsigned{arch::instruction_alignment}),
                                  ticks};
    const bool put = put_in_context(
        machine, *core,
        [&](std::uint64_t limit) {
            return ring_put_many(machine, *core,
                                 protocol::make_extended(protocol::Extended::masked, 0), data,
                                 limit);
        },
        interrupt_limit);
    if (!put) add_one(core->dropped);
}

}  // namespace nopscope
