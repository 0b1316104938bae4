// SPDX-License-Identifier: Apache-2.0
// Functions that a traced call breaks: their callers count on registers that its hooks change.
#pragma once

namespace nopscope::host::arch {

// Phrases behind a function's name, such as "must keep x9 to x15 (preserve_most)".
// By the value of DWARF's DW_AT_calling_convention; null: a traced call is harmless.
const char* broken_convention(unsigned convention);
// A function of this convention breaks only if its arguments take more than so many 8-byte words.
unsigned harmless_words(unsigned convention);
// Of a function in whose code takes_register_of_caller() (instructions.hpp).
const char* broken_by_its_code();
// Of a function whose callers know which registers it changes, and keep values in others.
const char* broken_by_its_callers();

}  // namespace nopscope::host::arch
