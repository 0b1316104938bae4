// SPDX-License-Identifier: Apache-2.0
// A lack of memory in any thread ends the command with a sentence and exit code 3 (Exit::input).
#pragma once

#include <exception>
#include <string>

namespace nopscope::host {

inline constexpr char out_of_memory_sentence[] =
    "out of memory: give it more (--memory N), a shorter recording or a smaller image";

// what() of an Error, or out_of_memory_sentence for std::bad_alloc and std::length_error.
std::string sentence_of(const std::exception& error);

// Prints the sentence and ends the process, for libraries that cannot continue. Allocates nothing.
[[noreturn]] void exit_out_of_memory();

// From now on, an uncaught exception in any thread ends the process: a sentence and exit code 3.
void catch_in_all_threads();

}  // namespace nopscope::host
