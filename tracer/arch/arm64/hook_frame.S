// SPDX-License-Identifier: Apache-2.0
// The hooks' frame description, with this architecture's register numbers (AADWARF64, 4.1).
#define LR 30
#define SP 31
#include "tracer/arch/hook_frame.h"
