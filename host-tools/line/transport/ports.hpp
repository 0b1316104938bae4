// SPDX-License-Identifier: Apache-2.0
// Lists serial ports, and says why a port cannot be used.
#pragma once

#include <string>
#include <vector>

namespace nopscope::host {

// Sorted paths: USB adapters and UARTs in `devices`, then their stable names in serial/by-id.
std::vector<std::string> serial_ports(const std::string& devices = "/dev");

// The command with which a person gets access to this port.
std::string permission_fix(const std::string& port);

// The programs, but this one, that have the port open: "cat (4711) and minicom (4712)". Empty: none
// that this user may see.
std::string users_of(const std::string& port);

// A sentence: why open() of `port` failed with `error`, and what to do.
std::string open_failure(const std::string& port, int error);

}  // namespace nopscope::host
