// SPDX-License-Identifier: Apache-2.0
/// \file
/// Callbacks at function entries and returns for C: return_ops.hpp.
///
///     static struct nopscope_return_ops timer = NOPSCOPE_RETURN_OPS(begin, end, NULL);
///     nopscope_attach(&timer.ops, nopscope_functions(list, 2));
#pragma once

#include "nopscope/ops.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Three words that belong to one call, from its entry to its exit: the same object as
/// nopscope::CallData.
struct nopscope_call_data {
    uint64_t words[3];  ///< Initially 0.
};

/// The registers at a function's return: the same object as nopscope::ReturnRegs.
struct nopscope_return_regs {
    uint64_t x[9];  ///< x0 to x8, or a0 to a7: maybe results; a callback may change them.
    uint64_t sp;    ///< The stack pointer.
};

struct nopscope_return_ops;

/// A callback at a function's entry. Return true to have nopscope_return_ops::exit called for this
/// call: nopscope::ReturnOps::Entry.
typedef bool (*nopscope_return_ops_entry)(uint64_t ip, uint64_t parent_ip,
                                          struct nopscope_return_ops* ops,
                                          struct nopscope_regs* regs,
                                          struct nopscope_call_data* data);
/// A callback when the call returns to `return_address`, or ends by a jump in a chain of tail
/// calls: nopscope::ReturnOps::Exit.
typedef void (*nopscope_return_ops_exit)(uint64_t ip, uint64_t return_address,
                                         struct nopscope_return_ops* ops,
                                         struct nopscope_return_regs* regs,
                                         struct nopscope_call_data* data);

/// An ops that sees calls return: the same object as nopscope::ReturnOps. It needs static storage
/// until nopscope_detach() has returned NOPSCOPE_OK.
struct nopscope_return_ops {
    struct nopscope_ops ops;          ///< For nopscope_attach() and nopscope_detach().
    nopscope_return_ops_entry entry;  ///< The callback at entries, or null: `exit` sees every call.
    nopscope_return_ops_exit exit;    ///< The callback at returns.
};

/// Initialises a nopscope_return_ops. `argument` becomes nopscope_ops::user.
#define NOPSCOPE_RETURN_OPS(at_entry, at_exit, argument)                              \
    {                                                                                 \
        .ops = {.func = nopscope_hook_call, .user = (argument)}, .entry = (at_entry), \
        .exit = (at_exit)                                                             \
    }

/// The callback of every nopscope_return_ops. The tracer calls it.
NOPSCOPE_API void nopscope_hook_call(uint64_t ip, uint64_t parent_ip, struct nopscope_ops* ops,
                                     struct nopscope_regs* regs);

#if !NOPSCOPE_ENABLED
NOPSCOPE_EMPTY void nopscope_hook_call(uint64_t ip, uint64_t parent_ip, struct nopscope_ops* ops,
                                       struct nopscope_regs* regs) {
    (void)ip, (void)parent_ip, (void)ops, (void)regs;
}
#endif

#ifdef __cplusplus
}
#endif
