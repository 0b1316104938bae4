// SPDX-License-Identifier: Apache-2.0
// Adapts the hooks, to which traced functions return, to the CPU that runs. In nopscope::arch:
//
//     hooks_fit_cpu()         whether this CPU executes the hooks best as they are assembled
//     adapt_hooks(machine, for_each_word)
//                             changes the hooks' words for a CPU that they do not fit.
//                             `for_each_word` calls its argument with the address of each word that
//                             the assembly lists, the same words every time. False: some word is
//                             not as assembled, and nothing was written. The assembled form is
//                             right on every CPU. For the boot core, before any call is hooked
#pragma once

#include "tracer/arch/select.hpp"

#include NOPSCOPE_ARCH_FILE(hook_forms.hpp)
