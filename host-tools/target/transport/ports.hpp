// SPDX-License-Identifier: Apache-2.0
// Serial ports: which there are, and why one cannot be used.
#pragma once

#include <string>
#include <vector>

namespace nopscope::host {

// Paths, sorted: USB adapters and UARTs of `devices`, then their lasting names below serial/by-id.
std::vector<std::string> serial_ports(const std::string& devices = "/dev");

// What a person who may not use this port is to do, a command.
std::string permission_fix(const std::string& port);

// Why open() of `port` failed with `error`, and what to do; a sentence.
std::string open_failure(const std::string& port, int error);

}  // namespace nopscope::host
