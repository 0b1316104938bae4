// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hal/frame.hpp"

namespace nopscope::hal {

void probe_semihosting();  // boot: probes once and reads the command line
// A semihosting instruction faults if nothing answers: skips it, returns true. False: another
// fault.
bool skip_unanswered_semihosting(ExceptionFrame& frame);

}  // namespace nopscope::hal
