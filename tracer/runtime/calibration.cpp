// SPDX-License-Identifier: Apache-2.0
#include "tracer/runtime/calibration.hpp"

#include "nopscope/ops.hpp"
#include "tracer/arch/machine.hpp"
#include "tracer/arch/system.hpp"
#include "tracer/recorders/profile.hpp"
#include "tracer/recorders/shadow_stack.hpp"

#include <algorithm>
#include <iterator>

// Labels in arch/arm64/calibration.S.
extern "C" {
std::uint64_t nopscope_calibrate_calls(void (*function)(), std::uint64_t calls);
std::uint64_t nopscope_calibrate_local_calls(void (*function)(), std::uint64_t calls);
std::uint64_t nopscope_calibrate_no_calls(void (*function)(), std::uint64_t calls);
void nopscope_calibrated_none();
void nopscope_calibrated_function();
void nopscope_calibrated_graph();
void nopscope_calibrated_profile();
void nopscope_calibrated_duration();
void nopscope_calibrated_sampled();
}

namespace nopscope {
namespace {

constinit Machine machine;
constinit Core scratch{};
constinit ProfileCell cell{};

// Not local: the compiler would call memcpy.
constexpr struct {
    protocol::Recorder number;
    void (*function)();
} recorders[] = {
    {protocol::Recorder::function, nopscope_calibrated_function},
    {protocol::Recorder::graph, nopscope_calibrated_graph},
    {protocol::Recorder::profile, nopscope_calibrated_profile},
    {protocol::Recorder::duration, nopscope_calibrated_duration},
    {protocol::Recorder::sampled, nopscope_calibrated_sampled},
};

constexpr std::uint64_t calls = 128;
static_assert(3 * calls * record_bytes <= std::uint64_t{1} << 13, "the smallest ring");
constexpr unsigned repetitions = 3;

struct Measured {
    std::uint64_t loop = ~std::uint64_t{0};  // ticks
    std::uint64_t told = ~std::uint64_t{0};  // ticks that the recorder says the calls took
};

// Converts the ticks of all calls to 1/256 ticks of one call.
std::int32_t per_call(std::uint64_t ticks) {
    static_assert(protocol::overhead_unit % calls == 0);
    return static_cast<std::int32_t>(ticks * (protocol::overhead_unit / calls));
}
void least(std::uint64_t& of, std::uint64_t ticks) {
    if (ticks < of) of = ticks;
}

// The sum of times between the graph recorder's entries and returns.
std::uint64_t told_by_calls(const Core& core) {
    std::uint64_t ticks = 0;
    for (std::uint64_t at = ring_bytes; at < core.cursor; at += 2 * record_bytes) {
        const auto entry = ring_peek(core, at), ret = ring_peek(core, at + record_bytes);
        if (entry && ret)
            ticks += static_cast<std::uint32_t>(ret->clock_low() - entry->clock_low());
    }
    return ticks;
}
// The sum of the duration recorder's times. A record has three words; the last is the time.
std::uint64_t told_by_durations(const Core& core) {
    std::uint64_t ticks = 0;
    for (std::uint64_t at = ring_bytes; at < core.cursor; at += 3 * record_bytes) {
        if (const auto last = ring_peek(core, at + 2 * record_bytes)) ticks += last->data();
    }
    return ticks;
}

std::uint64_t timed(std::uint64_t (*loop)(void (*)(), std::uint64_t), void (*function)()) {
    const std::uint64_t interrupts = machine.mask_interrupts();
    arch::set_current_core(&scratch);
    scratch.cursor = ring_bytes;
    const std::uint64_t ticks = loop(function, calls);
    machine.restore_interrupts(interrupts);
    return ticks;
}

void measure(Measured& least_so_far, protocol::Recorder recorder, void (*function)()) {
    cell.total = 0;
    least(least_so_far.loop, timed(nopscope_calibrate_calls, function));
    switch (recorder) {
    case protocol::Recorder::none:
    case protocol::Recorder::function: least_so_far.told = 0; break;
    case protocol::Recorder::graph:
    case protocol::Recorder::sampled: least(least_so_far.told, told_by_calls(scratch)); break;
    case protocol::Recorder::profile: least(least_so_far.told, cell.total); break;
    case protocol::Recorder::duration: least(least_so_far.told, told_by_durations(scratch)); break;
    }
}

}  // namespace

extern "C" {
extern constinit Ops nopscope_calibration_ops;
constinit Ops nopscope_calibration_ops{.data = &cell.total};
}

void calibrate(protocol::Hello& hello, std::uint64_t* ring, ShadowFrame* shadow,
               const Config& config) {
    Measured measured[std::size(recorders)];
    for (std::uint64_t i = 0; i < 3 * calls; ++i) ring[i] = 0;
    reset_shadow_stack(scratch, shadow, shadow_frames + 1, config.stack_high);
    scratch.stack_low = scratch.lowest_sp = config.stack_low;
    set_ring(scratch, reinterpret_cast<std::uintptr_t>(ring));
    scratch.limit = no_limit;

    std::uint64_t empty = ~std::uint64_t{0}, idle = empty, local = empty;
    for (unsigned n = 0; n < repetitions; ++n) {
        least(empty, timed(nopscope_calibrate_no_calls, nullptr));
        least(idle, timed(nopscope_calibrate_calls, nopscope_calibrated_none));
        least(local, timed(nopscope_calibrate_local_calls, nullptr));
        for (std::size_t i = 0; i < std::size(recorders); ++i) {
            measure(measured[i], recorders[i].number, recorders[i].function);
        }
    }
    // No cost is below 0, but a difference may be: a loop may also be slow because of the image's
    // layout, or because of the host if an emulator uses the host's clock.
    hello.landing_pad = per_call(idle - std::min(idle, local));
    for (std::size_t i = 0; i < std::size(recorders); ++i) {
        const protocol::Recorder number = recorders[i].number;
        const std::int32_t own = per_call(idle - empty);
        const std::int32_t told = per_call(measured[i].told);
        const std::int32_t loop = per_call(measured[i].loop - empty);
        const bool timed_itself = number != protocol::Recorder::function;
        protocol::Overhead& overhead = hello.overheads[protocol::overhead_index(number)];
        overhead.inside = std::max(timed_itself ? told - own : 0, 0);
        overhead.outside = std::max(loop - (timed_itself ? told : own), 0);
        hello.landing_pad = std::min(hello.landing_pad, overhead.outside);  // the host subtracts it
    }
    hello.calibrated = true;
    arch::set_current_core(nullptr);
}

}  // namespace nopscope
