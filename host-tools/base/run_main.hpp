// SPDX-License-Identifier: Apache-2.0
// Runs a host program's main function, and turns its exceptions into a sentence and an exit code.
#pragma once

namespace nopscope::host {

// Returns the exit code. Prints errors to stderr after `program`'s name.
int run_main(const char* program, int (*run)(int argc, char** argv), int argc, char** argv);

}  // namespace nopscope::host
