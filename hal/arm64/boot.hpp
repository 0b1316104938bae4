// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nopscope::hal {

// The exception level at which the loader entered the image: 1 or 2. main() always runs at 1.
unsigned boot_exception_level();

}  // namespace nopscope::hal
