// SPDX-License-Identifier: Apache-2.0
#pragma once

extern "C" {
// The end of boot: runs static constructors, main and newlib's exit().
[[noreturn]] void nopscope_run_main();
}
