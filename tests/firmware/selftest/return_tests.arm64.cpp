// SPDX-License-Identifier: Apache-2.0
// The two forms of hooks.
#include "tests/firmware/selftest/tracing.hpp"

#include "hal/arm64/registers.hpp"

// Labels in tracer/arch/arm64/.
extern "C" const std::uint32_t nopscope_return_hook[], nopscope_graph_events_hook[],
    nopscope_callback_hook[], nopscope_profile_hook[], nopscope_profile_events_hook[],
    nopscope_duration_hook[];

// Hooks as in tracer/arch/arm64/hook.h, or as changed by init(). No compiler emits RET X9.
SELFTEST("returns.hooks_have_the_form_for_the_cpu") {
    constexpr std::uint32_t bl_over_one = 0x94000002, b_over_one = 0x14000002, brk = 0xd4200000;
    constexpr std::uint32_t ret_x9 = 0xd65f0120;
    constexpr unsigned hook_exits = 14;
    const bool is_paired = hal::CpuFeatures::read().bti;
    for (const std::uint32_t* const words :
         {nopscope_return_hook, nopscope_graph_events_hook, nopscope_callback_hook,
          nopscope_profile_hook, nopscope_profile_events_hook, nopscope_duration_hook}) {
        REQUIRE(words[0] == (is_paired ? bl_over_one : b_over_one) && words[1] == brk);
    }
    unsigned returns = 0;
    for (std::uint64_t at = hal::address_of(__text_start); at < hal::address_of(__text_end);
         at += 4) {
        returns += *reinterpret_cast<const volatile std::uint32_t*>(at) == ret_x9;
    }
    REQUIRE(returns == (is_paired ? hook_exits : 0));
    passed(is_paired ? "paired by the return predictor" : "unknown to the return predictor");
}
