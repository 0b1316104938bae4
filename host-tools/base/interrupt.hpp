// SPDX-License-Identifier: Apache-2.0
// The signals with which a person ends a command: SIGINT, SIGTERM, SIGHUP.
#pragma once

#include <initializer_list>

namespace nopscope::host {

// From now on these signals only end a wait, and a write to a closed line fails without a signal.
// `also`: further signals.
void catch_interrupts(std::initializer_list<int> also = {});
bool interrupted();
int interruptions();  // number of signals: 0, 1, or 2 for more
// True after SIGTERM or SIGHUP: from a program or a closed terminal, so no second Ctrl-C will come.
bool was_told_to_end();

}  // namespace nopscope::host
