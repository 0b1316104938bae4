// SPDX-License-Identifier: Apache-2.0
// Callbacks run within traced calls: general registers only, no traced functions, no newlib.
#include "hal/hal.hpp"
#include "tests/firmware/storm/storm.hpp"

namespace storm {

namespace {

void count(std::uint64_t& counter) { __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED); }

void see_all(std::uint64_t ip, std::uint64_t, nopscope::Ops*, nopscope::Regs*) {
    count(steady_saw[nopscope::hal::this_core()][index_of(ip)]);
}
void see(std::uint64_t ip, std::uint64_t, nopscope::Ops* self, nopscope::Regs*) {
    const auto number = static_cast<unsigned>(self - ops);
    count(may_see[number][index_of(ip)] ? saw[number] : foreign);
}

}  // namespace

std::uint64_t steady_saw[cores][functions];
volatile bool may_see[all_ops][functions];
std::uint64_t saw[all_ops];
std::uint64_t foreign;

using nopscope::ops_unguarded;
nopscope::Ops steady{.func = see_all, .flags = ops_unguarded};
nopscope::Ops ops[all_ops] = {{.func = see}, {.func = see, .flags = ops_unguarded},
                              {.func = see}, {.func = see, .flags = ops_unguarded},
                              {.func = see}, {.func = see},
                              {.func = see}, {.func = see}};

}  // namespace storm
