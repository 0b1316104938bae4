// SPDX-License-Identifier: Apache-2.0
// A person's wish to end a command that would go on: SIGINT, SIGTERM, SIGHUP.
#pragma once

namespace nopscope::host {

// From now on they end no more than what is waited for; and a write to a line that is gone says so.
void catch_interrupts();
bool interrupted();
int interruptions();  // how many: 0, 1, or 2 and more
// True after SIGTERM or SIGHUP: a program sent it, or the terminal is gone, so no second Ctrl-C
// will come.
bool was_told_to_end();

}  // namespace nopscope::host
