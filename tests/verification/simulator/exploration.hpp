// SPDX-License-Identifier: Apache-2.0
// What to explore, and what was found (explorer.hpp).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nopscope::sim {

// What synchronize waits for.
enum class Wait {
    outside,  // each core is seen outside the trampolines, at depth 0
    // What quiescence.hpp does: each core takes an interrupt, not with an open frame of the unguarded
    // trampoline, not in the far one, nor, if that is used, at depth 1; then each guard that was taken then is seen free. A core that had not taken its
    // guard yet loads the slot afterwards: of all objects it may find that of no ops, which does
    // nothing. Not checked.
    guards,
};

struct ExploreOptions {
    unsigned cores = 1;
    Wait wait = Wait::outside;
    // A core in a trampoline may be interrupted, and the handler executes the site as well.
    bool interrupts = false;
    // A core may load the slot before it fetches the word, until its next context synchronisation.
    // Then a trampoline may find the object of no ops, which does nothing: not checked.
    bool early_loads = false;
    // Mutants: synchronize ignores what an interrupt interrupted; a guard is free for others to see
    // before the last load of the object.
    bool skip_depth = false;
    bool early_release = false;
    bool skip_unguarded = false;  // ... or the frames of the unguarded trampoline
};

struct Exploration {
    std::size_t states = 0;
    std::string violation;           // empty: none
    std::vector<std::string> trace;  // that leads to it
};

}  // namespace nopscope::sim
