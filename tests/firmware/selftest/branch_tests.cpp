// SPDX-License-Identifier: Apache-2.0
// BTI and pointer authentication: enforced if the CPU has them, else harmless. Each test prints
// which of the two it saw.
#include "hal/arm64/registers.hpp"
#include "hal/arm64/symbols.hpp"
#include "hal/expect_fault.hpp"
#include "hal/hal.hpp"
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

// fault.happened is false if the branch arrived and returned.
Fault try_branch(void (*jump)(const void*), const void* target) {
    Branch branch{.jump = jump, .target = target};
    return expect_fault(
        [](void* argument) {
            const auto* wanted = static_cast<const Branch*>(argument);
            wanted->jump(wanted->target);
        },
        &branch);
}

// A refusal by BTI: the fault is at the target, before its first instruction.
bool is_refusal(const Fault& fault, const void* target) {
    return fault.happened && fault.elr == hal::address_of(target) &&
           fault.exception_class() == static_cast<unsigned>(hal::ExceptionClass::branch_target);
}

struct Rule {
    const void* target;
    bool blr, br, br_x16;  // Arm ARM DDI 0487, D8.6.5: what the target accepts
};
const Rule rules[] = {
    {.target = selftest_land_nothing, .blr = false, .br = false, .br_x16 = false},
    {.target = selftest_land_c, .blr = true, .br = false, .br_x16 = true},
    {.target = selftest_land_j, .blr = false, .br = true, .br_x16 = true},
    {.target = selftest_land_jc, .blr = true, .br = true, .br_x16 = true},
    // Like BTI c, because SCTLR_EL1.BT1 is set.
    {.target = selftest_land_paciasp, .blr = true, .br = false, .br_x16 = true},
};

bool follows(const Rule& rule, void (*jump)(const void*), bool allowed, bool has_bti) {
    const Fault fault = try_branch(jump, rule.target);
    return allowed || !has_bti ? !fault.happened : is_refusal(fault, rule.target);
}

}  // namespace

SELFTEST("bti.indirect_branches_land_only_on_landing_pads") {
    const bool has_bti = hal::CpuFeatures::read().bti;
    for (const Rule& rule : rules) {
        REQUIRE(follows(rule, selftest_jump_blr, rule.blr, has_bti));
        REQUIRE(follows(rule, selftest_jump_br, rule.br, has_bti));
        REQUIRE(follows(rule, selftest_jump_br_x16, rule.br_x16, has_bti));
    }
    passed(has_bti ? "enforced: 15 of 15 combinations"
                   : "no FEAT_BTI here: all 15 combinations are harmless");
}

SELFTEST("bti.a_call_through_a_pointer_lands") {
    int (*volatile function)() = selftest_patchable;  // assembly without a landing pad
    int (*volatile compiled)(const char*) = [](const char* text) { return text[0] - '0'; };
    REQUIRE(compiled("7") == 7);
    const bool has_bti = hal::CpuFeatures::read().bti;
    const Fault fault = expect_fault([](void* f) { (*static_cast<int (*volatile*)()>(f))(); },
                                     static_cast<void*>(const_cast<int (**)()>(&function)));
    REQUIRE(fault.happened == has_bti);
}

SELFTEST("pac.a_changed_return_address_does_not_return") {
    const bool has_pac = hal::CpuFeatures::read().pac;
    REQUIRE(!expect_fault([](void*) { selftest_tamper_return(0); }, nullptr).happened);
    if (!has_pac) return passed("no pointer authentication here");
    const Fault fault = expect_fault([](void*) { selftest_tamper_return(8); }, nullptr);
    constexpr unsigned authentication_failure = 0x1c;  // with FEAT_FPAC; else the branch faults
    REQUIRE(fault.happened);
    REQUIRE(fault.exception_class() == authentication_failure ||
            fault.exception_class() ==
                static_cast<unsigned>(hal::ExceptionClass::instruction_abort));
    passed("enforced");
}
