// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nopscope::hal {

void interrupts_start();  // boot: the controller, with everything disabled

}  // namespace nopscope::hal
