// SPDX-License-Identifier: Apache-2.0
/// \file
/// Callbacks at function entries for C: ops.hpp.
///
///     static struct nopscope_ops counter = {.func = seen, .user = &count};
///     nopscope_attach(&counter, nopscope_all());
#pragma once

#include "nopscope/enabled.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define NOPSCOPE_ALIGN(bytes) alignas(bytes)
#else
#define NOPSCOPE_ALIGN(bytes) _Alignas(bytes)
#endif

/// The registers at a function's entry: the same object as nopscope::Regs.
struct nopscope_regs {
    uint64_t x[9];  ///< x0 to x8. RISC-V: a0 to a7, and t2.
    uint64_t fp;    ///< x29. RISC-V: s0.
    uint64_t lr;    ///< x30, or ra: where the function will return to.
    uint64_t sp;    ///< The stack pointer, which a callback must not change.
    uint64_t pc;    ///< The function's body.
};

struct nopscope_ops;

/// A callback at a function's entry, under the rules of nopscope::Callback.
typedef void (*nopscope_callback)(uint64_t ip, uint64_t parent_ip, struct nopscope_ops* ops,
                                  struct nopscope_regs* regs);

/// Values of nopscope_ops::flags, or 0: nopscope::OpsFlags.
enum nopscope_ops_flags {
    NOPSCOPE_OPS_REDIRECTS = 1,  ///< The callback may change nopscope_regs::pc.
    NOPSCOPE_OPS_UNGUARDED = 2,  ///< The callback never calls a traced function.
};

/// A callback and its settings: the same object as nopscope::Ops. It needs static storage.
struct nopscope_ops {
    NOPSCOPE_ALIGN(16) nopscope_callback func;  ///< The callback. Null only with `direct`.
    uint64_t direct;              ///< Address of a direct entry, or 0: nopscope::Ops::direct.
    void* user;                   ///< For the callback.
    uint32_t flags;               ///< Of nopscope_ops_flags.
    uint32_t sites;               ///< How many sites it is attached to. The tracer writes it.
    nopscope_callback unguarded;  ///< For the tracer.
    void* data;                   ///< For the tracer.
};

#ifdef __cplusplus
}
#endif
