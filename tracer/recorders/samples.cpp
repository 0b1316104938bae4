// SPDX-License-Identifier: Apache-2.0
#include "nopscope/samples.hpp"

#include "tracer/arch/arm64/instructions.hpp"
#include "tracer/arch/arm64/system.hpp"
#include "tracer/core/image.hpp"
#include "tracer/core/cores.hpp"
#include "tracer/recorders/shadow_stack.hpp"

namespace nopscope {
namespace {

constinit Machine machine;

// AAPCS64, 6.4.6.
struct FrameRecord {
    std::uint64_t caller;
    std::uint64_t return_address;
};

class Walk {
public:
    explicit Walk(const Core& core) : core_(core) {}

    void run(const Interruption& at) {
        (void)add(at.pc);
        const std::uint64_t record = at.x[29];
        const std::uint64_t first = is_record(record, at.sp) ? caller_at(record) : 0;
        const std::uint64_t x30 = machine.without_pac(at.x[30]);
        if (is_return_hook(x30)) {
            add_link(hooked_return_address_of(at.sp, record), first);
        } else if (is_behind_call(x30)) {
            add_link(x30, first);
            // If a patch site has called the tracer, x9 is the function's return address.
            const std::uint64_t x9 = machine.without_pac(at.x[9]);
            if (is_body(x30) && (is_return_hook(x9) || is_behind_call(x9))) (void)add(real(x9, at.sp));
        }
        std::uint64_t caller = first;
        for (std::uint64_t here = record; add(caller);) {
            const std::uint64_t below = here + sizeof(FrameRecord);
            here = read(here).caller;
            caller = is_record(here, below) ? caller_at(here) : 0;
        }
    }
    std::uint32_t argument() const { return protocol::sample_argument(count_, has_link_, cut_); }
    std::span<const std::uint64_t> addresses() const { return {addresses_, count_}; }

private:
    static const FrameRecord& read(std::uint64_t record) {
        return *reinterpret_cast<const FrameRecord*>(record);
    }
    bool is_record(std::uint64_t record, std::uint64_t above) const {
        constexpr std::uint64_t unbounded = ~std::uint64_t{0};
        return record % 8 == 0 && record >= above && record >= core_.stack_low && core_.stack_high != unbounded &&
               record <= core_.stack_high - sizeof(FrameRecord);
    }
    // Replaces a hook by the return address of the innermost call with an SP of `low` or more.
    static std::uint64_t real(std::uint64_t address, std::uint64_t low) {
        return is_return_hook(address) ? hooked_return_address_of(low, ~std::uint64_t{0}) : address;
    }
    static std::uint64_t caller_at(std::uint64_t record) {
        return real(machine.without_pac(read(record).return_address), record + 1);
    }
    // True behind BL, BLR, or an authenticating form of BLR, in the text (Arm ARM DDI 0487, C6.2).
    static bool is_behind_call(std::uint64_t address) {
        const auto begin = reinterpret_cast<std::uintptr_t>(__text_start);
        const auto end = reinterpret_cast<std::uintptr_t>(__text_end);
        if (address % 4 != 0 || address < begin + 8 || address > end) return false;
        const std::uint32_t word = machine.read_word(address - 4);
        return (word & 0xfc00'0000) == 0x9400'0000 || (word & 0xfeff'f000) == 0xd63f'0000;
    }
    // True if the call is that of a patch site.
    static bool is_body(std::uint64_t behind_call) {
        return machine.read_word(behind_call - 8) == insn::mov_x9_lr;
    }
    void add_link(std::uint64_t link, std::uint64_t first) {
        if (link != first) has_link_ = add(link);
    }
    // False: it is 0, or there is no room.
    bool add(std::uint64_t address) {
        if (address == 0) return false;
        if (count_ == max_sampled_addresses) {
            cut_ = true;
            return false;
        }
        addresses_[count_++] = protocol::sampled_address(address - hello.text_base);
        return true;
    }

    const Core& core_;
    std::uint64_t addresses_[max_sampled_addresses];
    unsigned count_ = 0;
    bool has_link_ = false;
    bool cut_ = false;
};

}  // namespace

void sample(const Interruption& at) {
    Core* const core = joined_core();
    if (core == nullptr || __atomic_load_n(&core->limit, __ATOMIC_RELAXED) == 0) return;
    Walk walk(*core);
    walk.run(at);
    const bool done = put_in_context(machine, *core, [&](std::uint64_t limit) {
        return ring_put_many(machine, *core, protocol::make_extended(protocol::Extended::sample, walk.argument()),
                             walk.addresses(), limit);
    });
    if (!done) add_one(core->dropped);
}

}  // namespace nopscope
