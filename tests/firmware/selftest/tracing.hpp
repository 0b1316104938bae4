// SPDX-License-Identifier: Apache-2.0
// What the tests of the tracer share.
#pragma once

#include "hal/hal.hpp"
#include "hal/symbols.hpp"
#include "nopscope/triggers.hpp"
#include "tests/firmware/image.hpp"
#include "tests/firmware/selftest/capture.hpp"
#include "tests/firmware/selftest/core_tests.hpp"
#include "tests/firmware/selftest/traced.hpp"

#include <initializer_list>
#include <utility>

namespace nopscope::selftest {

// Counts the ends of the calls that it traces.
inline unsigned exits;
inline ReturnOps counting_exits(nullptr, [](std::uint64_t, std::uint64_t, ReturnOps*, ReturnRegs*,
                                            CallData*) { ++exits; });

// Nothing else is traced: attaches these ops, then enables the recorder.
inline bool trace(const Sites& sites, std::initializer_list<Ops*> all_ops,
                  Recorder recorder = Recorder::none) {
    bool all = nothing_traced();
    for (Ops* const ops : all_ops) all = all && is_ok(attach(*ops, sites));
    exits = 0;
    return all && is_ok(enable(recorder, sites));
}

// How many ops trace a site.
inline unsigned ops_at(std::uint32_t site) {
    unsigned count = 0;
    for_each_ops(
        site, [](Ops&, void* sum) { ++*static_cast<unsigned*>(sum); }, &count);
    return count;
}

// A function's profile on a core.
inline SiteProfile profile_of(const void* function, unsigned core = 0) {
    SiteProfile profile{};
    (void)read_profile(index_of(function), core, profile);
    return profile;
}

// A context that runs on this core's stack.
inline struct OtherContext {
    Context context;
    ContextFrame frames[9];
    bool create() {
        const hal::StackBounds stack = hal::stack_bounds();
        return is_ok(context_create(context, frames, stack.low, stack.high));
    }
} other;

struct Task : image::Task {
    bool done;
    // Begins anew; switch_stacks() to `sp` then calls `run`.
    bool create(void (*run)()) {
        done = false;
        return is_ok(image::Task::create(run));
    }
};
inline Task tasks[2];

}  // namespace nopscope::selftest

using namespace nopscope;
using namespace nopscope::selftest;
using protocol::Extended;
using protocol::Kind;
