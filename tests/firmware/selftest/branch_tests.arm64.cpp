// SPDX-License-Identifier: Apache-2.0
// BTI and pointer authentication: enforced if the CPU has them, else harmless. Each test prints
// which of the two it saw.
#include "hal/arm64/registers.hpp"
#include "hal/expect_fault.hpp"
#include "hal/hal.hpp"
#include "hal/symbols.hpp"
#include "tests/firmware/selftest/selftest.hpp"
#include "tests/firmware/selftest/targets.hpp"

using namespace nopscope;
using namespace nopscope::selftest;
using hal::expect_fault;
using hal::Fault;

namespace {

struct Branch {
    void (*jump)(const void*);
    const void* target;
};

// A refusal by BTI: the fault is at the target, before its first instruction.
bool is_refusal(const Fault& fault, const void* target) {
    return fault.happened && fault.elr == hal::address_of(target) &&
           fault.exception_class() == static_cast<unsigned>(hal::ExceptionClass::branch_target);
}

// Arm ARM DDI 0487, D8.6.5: which of the jumps a target accepts.
void (*const jumps[])(const void*) = {selftest_jump_blr, selftest_jump_br, selftest_jump_br_x16};
const struct {
    const void* target;
    bool accepts[3];
} rules[] = {
    {selftest_land_nothing, {false, false, false}}, {selftest_land_c, {true, false, true}},
    {selftest_land_j, {false, true, true}},         {selftest_land_jc, {true, true, true}},
    {selftest_land_paciasp, {true, false, true}},  // like BTI c, because SCTLR_EL1.BT1 is set
};

}  // namespace

SELFTEST("bti.indirect_branches_land_only_on_landing_pads") {
    const bool has_bti = hal::CpuFeatures::read().bti;
    for (const auto& [target, accepts] : rules) {
        for (unsigned n = 0; n < 3; ++n) {
            Branch branch{jumps[n], target};
            const auto run = [](void* it) {
                static_cast<Branch*>(it)->jump(static_cast<Branch*>(it)->target);
            };
            const Fault fault = expect_fault(run, &branch);  // none: it arrived and returned
            REQUIRE(accepts[n] || !has_bti ? !fault.happened : is_refusal(fault, target));
        }
    }
    passed(has_bti ? "enforced: 15 of 15 combinations"
                   : "no FEAT_BTI here: all 15 combinations are harmless");
}

SELFTEST("pac.a_changed_return_address_does_not_return") {
    const bool has_pac = hal::CpuFeatures::read().pac;
    REQUIRE(!expect_fault([](void*) { selftest_tamper_return(0); }, nullptr).happened);
    if (!has_pac) return passed("no pointer authentication here");
    const Fault fault = expect_fault([](void*) { selftest_tamper_return(8); }, nullptr);
    constexpr unsigned authentication_failure = 0x1c;  // with FEAT_FPAC; else the branch faults
    constexpr auto abort = static_cast<unsigned>(hal::ExceptionClass::instruction_abort);
    const unsigned what = fault.exception_class();
    REQUIRE(fault.happened && (what == authentication_failure || what == abort));
    passed("enforced");
}
