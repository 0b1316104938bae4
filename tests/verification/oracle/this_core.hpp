// SPDX-License-Identifier: Apache-2.0
// Which core runs.
//
// QEMU tells each callback the core. But if one thread runs several cores in turn (-icount), QEMU
// names the core that the code was translated for. This is wrong as soon as cores share code (seen
// with QEMU 10.0.2). Then this header reads QEMU's own variable, if the program exports it. It is
// no part of the plugin interface. Without it, runs of several cores need a thread for each core.
#pragma once

#include <dlfcn.h>

namespace this_core {

inline constexpr unsigned most = 8;
inline void* cpus[most];  // by core

// The calling thread's value; null: not exported.
inline void* running() {
    thread_local auto* const variable = static_cast<void**>(dlsym(RTLD_DEFAULT, "current_cpu"));
    return variable == nullptr ? nullptr : *variable;
}

// Called from the callback that reports a new core, for which QEMU names the right core.
inline void is_there(unsigned core) {
    if (core < most) cpus[core] = running();
}
// `told`: the core that QEMU names.
inline unsigned number(unsigned told) {
    void* const cpu = running();
    if (cpu == nullptr || cpus[told] == cpu) return told;
    for (unsigned core = 0; core < most; ++core) {
        if (cpus[core] == cpu) return core;
    }
    return told;
}

}  // namespace this_core
