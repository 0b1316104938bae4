// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/interrupt.hpp"

#include <signal.h>

namespace nopscope::host {
namespace {

volatile sig_atomic_t came = 0;
volatile sig_atomic_t nobody_waits = 0;

void on_signal(int number) {
    came = came < 2 ? came + 1 : 2;
    if (number != SIGINT) nobody_waits = 1;
}

}  // namespace

void catch_interrupts(std::initializer_list<int> also) {
    struct sigaction action {};
    action.sa_handler = on_signal;  // without SA_RESTART: the signal must end a waiting read
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
    for (const int number : also) sigaction(number, &action, nullptr);
    signal(SIGPIPE, SIG_IGN);
}

bool interrupted() { return came != 0; }
int interruptions() { return came; }
bool was_told_to_end() { return nobody_waits != 0; }

}  // namespace nopscope::host
