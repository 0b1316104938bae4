// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ends the machine in the way that the command line names by crash=NAME. Returns without one.
void crash_if_asked();
