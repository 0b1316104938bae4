// SPDX-License-Identifier: Apache-2.0
// Interrupts are deferred, or found not to be. Only for an image whose library defers them; the
// sweeps of tests/firmware/torture take one on each instruction.
#include "tests/firmware/selftest/tracing.hpp"

#include "tracer/arch/deferral.hpp"

extern "C" const char selftest_plain_vectors[], nopscope_return_hook[], nopscope_graph_entry[],
    nopscope_deferred[];

namespace {

std::uint64_t vectors() {
    std::uint64_t address;
    asm volatile("mrs %0, vbar_el1" : "=r"(address));
    return address;
}
void set_vectors(std::uint64_t address) {
    asm volatile("msr vbar_el1, %0\n\tisb" ::"r"(address) : "memory");
}

// Returns how many missed deferrals context_switch() counts if the last interrupt came at `pc`.
std::uint64_t missed_at(const char* pc) {
    const hal::InterruptsMasked masked;
    const std::uint64_t before = counters().undeferred;
    asm volatile("msr elr_el1, %0" ::"r"(pc));
    if (context_switch(main_context()) != Status::ok) return ~std::uint64_t{0};
    return counters().undeferred - before;
}

}  // namespace

SELFTEST("deferral.a_vector_without_the_macro_is_found") {
    REQUIRE(nothing_traced());
    const hal::InterruptsMasked masked;
    const std::uint64_t ours = vectors();
    REQUIRE(arch::vector_defers());
    set_vectors(reinterpret_cast<std::uintptr_t>(selftest_plain_vectors));
    const bool defers = arch::vector_defers();
    set_vectors(ours);
    REQUIRE(!defers && arch::vector_defers());
}

SELFTEST("deferral.a_missed_one_is_counted") {
    REQUIRE(nothing_traced());
    REQUIRE(missed_at(nopscope_graph_entry) == 0);  // where such code begins again
    REQUIRE(missed_at(nopscope_graph_entry + 4) == 1);
    REQUIRE(missed_at(nopscope_return_hook) == 1);
    REQUIRE(missed_at(nopscope_return_hook + 8) == 0);
    REQUIRE(missed_at(nopscope_return_hook + 40) == 1);
    REQUIRE(missed_at(nopscope_deferred) == 0);
}
