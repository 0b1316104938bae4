// SPDX-License-Identifier: Apache-2.0
#include "nopscope/samples.hpp"

#include "tracer/arch/calling_convention.hpp"
#include "tracer/arch/instructions.hpp"
#include "tracer/arch/patch_site.hpp"
#include "tracer/arch/system.hpp"
#include "tracer/core/here.hpp"
#include "tracer/core/hooks.hpp"
#include "tracer/core/image.hpp"
#include "tracer/recorders/shadow_stack.hpp"

namespace nopscope {
namespace {

constinit Machine machine;

class Walk {
public:
    explicit Walk(const Core& core) : core_(core) {}

    void run(const Interruption& at) {
        (void)add(at.pc);
        std::uint64_t record = arch::frame_record(arch::frame_pointer(at));
        if (is_record(record, at.sp) && arch::is_of_leaf(read(record), record, core_.stack_high))
            record = arch::frame_record(arch::leaf_caller(read(record)));
        const std::uint64_t first = is_record(record, at.sp) ? caller_at(record) : 0;
        const std::uint64_t link = arch::without_signature(machine, arch::link(at));
        if (is_return_hook(link)) {
            add_link(hooked_return_address_of(at.sp, record), first);
        } else if (const std::uint64_t body = arch::site_body(at);
                   is_recording(at.pc) && is_behind_call(body) && is_site_call(machine, body)) {
            add_link(body, first);
            const std::uint64_t caller = arch::without_signature(machine, arch::site_link(at));
            if (is_return_hook(caller) || is_behind_call(caller)) (void)add(real(caller, at.sp));
        } else if (is_behind_call(link)) {
            add_link(link, first);
        }
        std::uint64_t caller = first;
        for (std::uint64_t here = record; add(caller);) {
            const std::uint64_t below = here + sizeof(arch::FrameRecord);
            here = arch::frame_record(read(here).caller);
            caller = is_record(here, below) ? caller_at(here) : 0;
        }
    }
    std::uint32_t argument() const { return protocol::sample_argument(count_, has_link_, cut_); }
    std::span<const std::uint64_t> addresses() const { return {addresses_, count_}; }

private:
    static const arch::FrameRecord& read(std::uint64_t record) {
        return *reinterpret_cast<const arch::FrameRecord*>(record);
    }
    bool is_record(std::uint64_t record, std::uint64_t above) const {
        constexpr std::uint64_t unbounded = ~std::uint64_t{0};
        return record % 8 == 0 && record >= above && record >= core_.stack_low &&
               core_.stack_high != unbounded &&
               record <= core_.stack_high - sizeof(arch::FrameRecord);
    }
    // Replaces a hook by the return address of the innermost call with an SP of `low` or more.
    static std::uint64_t real(std::uint64_t address, std::uint64_t low) {
        return is_return_hook(address) ? hooked_return_address_of(low, ~std::uint64_t{0}) : address;
    }
    static std::uint64_t caller_at(std::uint64_t record) {
        return real(arch::without_signature(machine, read(record).return_address), record + 1);
    }
    static bool is_recording(std::uint64_t pc) {
        return CodeRange{address_of(nopscope_recording), address_of(nopscope_recording_end)}
            .contains(pc);
    }
    // True if the instruction before it, in the text, is a call.
    static bool is_behind_call(std::uint64_t address) {
        const auto begin = reinterpret_cast<std::uintptr_t>(__text_start);
        const auto end = reinterpret_cast<std::uintptr_t>(__text_end);
        if (address % arch::instruction_alignment != 0 || address < begin + 8 || address > end)
            return false;
        return arch::is_call_before(machine, address);
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
        addresses_[count_++] = protocol::sampled_address(address - hello.text_base,
                                                         unsigned{arch::instruction_alignment});
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
    const Here here;
    Core* const core = here.joined();
    if (core == nullptr || is_stopped(*core)) return;
    Walk walk(*core);
    walk.run(at);
    const bool done = put_in_context(machine, *core, [&](std::uint64_t limit) {
        return ring_put_many(machine, *core,
                             protocol::make_extended(protocol::Extended::sample, walk.argument()),
                             walk.addresses(), limit);
    });
    if (!done) add_one(core->dropped);
}

}  // namespace nopscope
