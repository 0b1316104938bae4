// SPDX-License-Identifier: Apache-2.0
// What main() of each host program does: runs it, and turns what it throws into a sentence and a code.
#pragma once

namespace nopscope::host {

// The exit code. Errors go to stderr behind `program`'s name.
int run_main(const char* program, int (*run)(int argc, char** argv), int argc, char** argv);

}  // namespace nopscope::host
