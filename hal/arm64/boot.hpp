// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nopscope::hal {

// The exception level the loader entered the image at: 1 or 2. main() always runs at 1.
unsigned boot_exception_level();

// Of each core, once.
void start_cycle_counter();
void report_serror();  // from here on an asynchronous abort reaches its vector

}  // namespace nopscope::hal
