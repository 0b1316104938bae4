// SPDX-License-Identifier: Apache-2.0
// Options of an exploration, and its result (explorer.hpp).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nopscope::sim {

// What synchronize() waits for.
enum class Wait {
    outside,  // each core is seen outside the trampolines, at depth 0
    // As quiescence.hpp does: each core takes an interrupt. It must not come with an open frame of
    // the unguarded trampoline, nor in the far trampoline, nor at depth 1 if that is used. Then
    // each guard that was taken must be seen free. A core that had not taken its guard loads the
    // slot afterwards and may find the object of no ops, which does nothing. This is not checked.
    guards,
};

struct ExploreOptions {
    unsigned cores = 1;
    Wait wait = Wait::outside;
    // A core in a trampoline may be interrupted, and the handler executes the site, too.
    bool interrupts = false;
    // A core may load the slot before it fetches the word, until its next context synchronisation.
    // Then a trampoline may find the object of no ops, which does nothing. This is not checked.
    bool early_loads = false;
    // Mutants: synchronize() ignores the code below an interrupt (skip_depth) or the frames of the
    // unguarded trampoline; or a guard looks free before the last load of the object.
    bool skip_depth = false;
    bool early_release = false;
    bool skip_unguarded = false;
};

struct Exploration {
    std::size_t states = 0;
    std::string violation;           // empty if there is none
    std::vector<std::string> trace;  // steps that lead to it
};

}  // namespace nopscope::sim
