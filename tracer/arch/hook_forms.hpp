// SPDX-License-Identifier: Apache-2.0
// The hooks that traced functions return to, made right for the CPU that runs. In nopscope::arch:
//
//     hooks_fit_cpu()         whether this CPU executes the hooks best as they are assembled
//     adapt_hooks(machine, for_each_word)
//                             changes the hooks' words for a CPU that they do not fit.
//                             `for_each_word` calls what it is given with the address of each word
//                             that the assembly lists, the same ones every time. False: some word
//                             is not as assembled, and nothing was written: that form is right on
//                             every CPU. The boot core calls it, before any call is hooked
#pragma once

#include "tracer/arch/select.hpp"

#include NOPSCOPE_ARCH_FILE(hook_forms.hpp)
