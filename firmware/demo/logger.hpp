// SPDX-License-Identifier: Apache-2.0
// The task that prints. Scripts run on all cores, and newlib's stdout is for one core at a time. So
// each core puts its lines into a queue, and a task of the boot core prints them.
#pragma once

namespace logger {

// Boot core. Creates the task, which ends when `writers` tasks have called done().
void start(unsigned writers);
// A task, on any core. Copies the line, of at most 159 characters; waits if the queue is full.
void put(const char* line);
// The task puts no more lines.
void done();

}  // namespace logger
