// SPDX-License-Identifier: Apache-2.0
/// \file
/// Triggers and marks for C: start, stop or mark the recording when a function is entered
/// (triggers.hpp).
///
///     static struct nopscope_trigger trigger = NOPSCOPE_TRIGGER(NOPSCOPE_ACTION_START, 1000, 0);
///     nopscope_stop();
///     nopscope_attach(&trigger.ops, nopscope_functions(list, 1));
#pragma once

#include "nopscope/ops.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// \name Marks
/// \{

/// Records a point in time: nopscope::mark().
NOPSCOPE_API void nopscope_mark(uint32_t id);
/// Records a mark, and makes the pump send what the rings hold: nopscope::snapshot().
NOPSCOPE_API void nopscope_snapshot(uint32_t id);

/// \}

/// The action of a nopscope_trigger: nopscope::Action.
enum nopscope_action {
    NOPSCOPE_ACTION_START,     ///< nopscope_start()
    NOPSCOPE_ACTION_STOP,      ///< nopscope_stop()
    NOPSCOPE_ACTION_SNAPSHOT,  ///< nopscope_snapshot() with the trigger's `id`
};

/// The callback of every nopscope_trigger. The tracer calls it.
NOPSCOPE_API void nopscope_count_down(uint64_t ip, uint64_t parent_ip, struct nopscope_ops* ops,
                                      struct nopscope_regs* regs);

/// An ops that acts once, at the n-th entry of its functions: the same object as nopscope::Trigger.
struct nopscope_trigger {
    struct nopscope_ops ops;  ///< For nopscope_attach() and nopscope_detach().
    uint32_t left;            ///< Entries until it acts.
    uint32_t id;              ///< The mark's number, for NOPSCOPE_ACTION_SNAPSHOT.
    uint8_t action;           ///< Of nopscope_action.
};

/// Initialises a nopscope_trigger, which does `what` at the `entries`-th entry. `mark` is its id.
#define NOPSCOPE_TRIGGER(what, entries, mark)                                                     \
    {                                                                                             \
        .ops = {.func = nopscope_count_down, .flags = NOPSCOPE_OPS_UNGUARDED}, .left = (entries), \
        .id = (mark), .action = (what)                                                            \
    }

/// Makes the trigger act once more, at the `entries`-th entry from now: nopscope::Trigger::arm().
static inline void nopscope_trigger_arm(struct nopscope_trigger* trigger, uint32_t entries) {
    __atomic_store_n(&trigger->left, entries, __ATOMIC_RELAXED);
}
/// True if the trigger has acted, or is not armed: nopscope::Trigger::has_acted().
static inline bool nopscope_trigger_has_acted(const struct nopscope_trigger* trigger) {
    return __atomic_load_n(&trigger->left, __ATOMIC_RELAXED) == 0;
}

#if !NOPSCOPE_ENABLED
NOPSCOPE_EMPTY void nopscope_mark(uint32_t id) { (void)id; }
NOPSCOPE_EMPTY void nopscope_snapshot(uint32_t id) { (void)id; }
NOPSCOPE_EMPTY void nopscope_count_down(uint64_t ip, uint64_t parent_ip, struct nopscope_ops* ops,
                                        struct nopscope_regs* regs) {
    (void)ip, (void)parent_ip, (void)ops, (void)regs;
}
#endif

#ifdef __cplusplus
}
#endif
