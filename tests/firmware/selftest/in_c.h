// SPDX-License-Identifier: Apache-2.0
// What a kernel in C does with the tracer (in_c.c). in_c_tests.cpp looks at what it recorded.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// A traced function, which calls its argument.
typedef void (*selftest_traced)(void (*function)(void));

// Runs two tasks, which give way to each other in a call of `traced`. False: a request failed.
bool selftest_run_tasks_in_c(selftest_traced traced);
bool selftest_end_tasks_in_c(void);
// Lets an exit callback see two of three calls, and detaches it within the third. Returns how many
// it saw.
unsigned selftest_see_returns_in_c(selftest_traced traced);
// Attaches a trigger to all of `functions` but the first, and stops the recording at the third call
// of the second, `traced`. Returns how many sites it had.
uint32_t selftest_stop_in_c(const void* const functions[3], selftest_traced traced);

#ifdef __cplusplus
}
#endif
