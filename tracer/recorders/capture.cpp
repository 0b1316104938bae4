// SPDX-License-Identifier: Apache-2.0
#include "nopscope/capture.hpp"

#include "nopscope/return_ops.hpp"
#include "tracer/arch/calling_convention.hpp"
#include "tracer/arch/system.hpp"
#include "tracer/core/here.hpp"
#include "tracer/recorders/capture.hpp"
#include "tracer/recorders/duration.hpp"

namespace nopscope {
namespace {

constinit Machine machine;

// A record's data: a site or none, and values of 57 or 64 bits.
class Data {
public:
    Data() = default;
    explicit Data(std::uint64_t function) { words_[count_++] = site_of(function); }

    // Returns true if the value is wide.
    bool add(std::uint64_t value) {
        const bool wide = protocol::is_wide(value);
        words_[count_++] = value;  // make_data() takes only its low bits
        if (wide) words_[count_++] = value >> protocol::data_bits;
        return wide;
    }
    std::span<const std::uint64_t> words() const { return {words_, count_}; }

private:
    std::uint64_t words_[1 + 2 * arch::argument_registers];
    unsigned count_ = 0;
};

void put(Core& core, protocol::Extended what, std::uint32_t argument, const Data& data) {
    const bool done = put_in_context(machine, core, [&](std::uint64_t limit) {
        return ring_put_many(machine, core, protocol::make_extended(what, argument), data.words(),
                             limit);
    });
    if (!done) add_one(core.dropped);
}

struct Arguments : Ops {
    std::uint32_t mask = 0;
};

void put_arguments(std::uint64_t ip, std::uint64_t, Ops* ops, Regs* regs) {
    const Here here;
    Core& core = here.core();
    if (is_stopped(core)) return;
    const std::uint32_t mask = static_cast<Arguments*>(ops)->mask;
    std::uint32_t wide = 0;
    Data data(ip);
    for (unsigned n = 0; n < arch::argument_registers; ++n) {
        if ((mask >> n & 1) != 0)
            wide |= static_cast<std::uint32_t>(data.add(arch::argument(*regs, n))) << n;
    }
    put(core, protocol::Extended::arguments, mask | wide << 8, data);
}

void put_result(std::uint64_t ip, std::uint64_t, ReturnOps*, ReturnRegs* regs, CallData*) {
    const Here here;
    Core& core = here.core();
    if (is_stopped(core)) return;
    Data data(ip);
    const std::uint32_t wide = data.add(arch::result(*regs));
    put(core, protocol::Extended::result, wide, data);
}

constexpr unsigned max_masks = 8;
constinit Arguments captures[max_masks]{};
constinit ReturnOps result_capture(nullptr, put_result);

// Returns the capture with this mask, or an unused one; null: there is none.
Arguments* find(std::uint32_t mask) {
    Arguments* unused = nullptr;
    for (Arguments& one : captures) {
        if (one.sites == 0) {
            unused = &one;
        } else if (one.mask == mask) {
            return &one;
        }
    }
    if (unused == nullptr) return nullptr;
    unused->func = put_arguments;
    unused->flags = ops_unguarded;
    unused->mask = mask;
    return unused;
}

// Detaches all captures except `stays`.
void detach_arguments(Steps& steps, const Sites& sites, const Arguments* stays) {
    for (Arguments& one : captures) {
        if (&one == stays || one.sites == 0) continue;
        steps.then([&] { return detach(one, sites); });
    }
}

}  // namespace

void counter(std::uint32_t id, std::int64_t value) {
    const Here here;
    Core* const core = here.joined();
    if (core == nullptr || is_stopped(*core)) return;
    Data data;
    const std::uint32_t wide = data.add(static_cast<std::uint64_t>(value));
    put(*core, protocol::Extended::counter, id << 1 | wide, data);
}

Steps change_captures(const Sites& sites, std::uint8_t mask, bool result) {
    Steps steps;
    if (mask != 0) {
        Arguments* const capture = find(mask);
        steps.then([&] { return capture != nullptr ? attach(*capture, sites) : Status::too_many; });
        detach_arguments(steps, sites, capture);
    }
    if (result) steps.then([&] { return attach(result_capture, sites); });
    return steps;
}
Steps end_captures(const Sites& sites) {
    Steps steps;
    detach_arguments(steps, sites, nullptr);
    steps.then([&] { return detach(result_capture, sites); });
    return steps;
}

Status capture_arguments(const Sites& sites, std::uint8_t mask) {
    if (mask != 0) return change_captures(sites, mask, false).status();
    Steps steps;
    detach_arguments(steps, sites, nullptr);
    return steps.status();
}

Status capture_result(const Sites& sites) { return change_captures(sites, 0, true).status(); }

Status capture_nothing(const Sites& sites) { return end_captures(sites).status(); }

}  // namespace nopscope
