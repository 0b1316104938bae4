// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hal/arm64/frame.h"

namespace nopscope::hal {

void probe_semihosting();  // boot: asks once, reads the command line
// The fault of a semihosting HLT that nobody answered: resumes behind it. False: another fault.
bool skip_unanswered_semihosting(ExceptionFrame& frame);

}  // namespace nopscope::hal
