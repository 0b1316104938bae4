// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nopscope::hal {

// The exception level at which the loader entered the image: 1 or 2. main() always runs at 1.
unsigned boot_exception_level();

// Each core calls it once.
void start_cycle_counter();
void report_serror();  // each core, once: unmasks asynchronous aborts (SError)

}  // namespace nopscope::hal
