// SPDX-License-Identifier: Apache-2.0
// Memory that cannot be had: one sentence and exit code 3 (Exit::input), in whatever thread it is missed.
#pragma once

#include <exception>
#include <string>

namespace nopscope::host {

inline constexpr char out_of_memory_sentence[] =
    "out of memory: give it more (--memory N), a shorter recording or a smaller image";

// What to say of `error`: what() of an Error, out_of_memory_sentence of std::bad_alloc and std::length_error.
std::string sentence_of(const std::exception& error);

// Says the sentence behind "nopscope: ", and ends the process. For libraries that cannot go on. Allocates nothing.
[[noreturn]] void exit_out_of_memory();

// From now on an exception that nothing catches, in whatever thread, ends the process by a sentence and exit code 3.
void catch_in_all_threads();

}  // namespace nopscope::host
