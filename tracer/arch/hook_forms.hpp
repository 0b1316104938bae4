// SPDX-License-Identifier: Apache-2.0
// The hooks, to which traced functions return, may have a form that suits the CPU better than the
// assembled one, which is right on every CPU. In nopscope::arch:
//
//     adapt_hooks_to_cpu(machine)
//                             gives the hooks the best form for the CPU that runs. For the boot
//                             core, before any call is hooked
//
// On the host there is none.
#pragma once

#include "tracer/arch/select.hpp"

#include NOPSCOPE_ARCH_FILE(hook_forms.hpp)
