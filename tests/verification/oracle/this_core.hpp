// SPDX-License-Identifier: Apache-2.0
// Which core runs.
//
// QEMU tells each callback, but where one thread runs several cores in turn (-icount) it tells the core that
// the code was translated for, which is another one as soon as cores share code (seen with QEMU 10.0.2). There
// the variable with which QEMU itself remembers is looked at, where the program exports it. It is no part of
// the plugin interface: without it runs of several cores need a thread for each.
#pragma once

#include <dlfcn.h>

namespace this_core {

inline constexpr unsigned most = 8;
inline void* cpus[most];  // by core

// Of the calling thread; null: not exported.
inline void* running() {
    thread_local auto* const variable = static_cast<void**>(dlsym(RTLD_DEFAULT, "current_cpu"));
    return variable == nullptr ? nullptr : *variable;
}

// From the callback that says a core is there, where QEMU's word is right.
inline void is_there(unsigned core) {
    if (core < most) cpus[core] = running();
}
// `told`: what QEMU says.
inline unsigned number(unsigned told) {
    void* const cpu = running();
    if (cpu == nullptr || cpus[told] == cpu) return told;
    for (unsigned core = 0; core < most; ++core) {
        if (cpus[core] == cpu) return core;
    }
    return told;
}

}  // namespace this_core
