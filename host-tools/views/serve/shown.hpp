// SPDX-License-Identifier: Apache-2.0
// What a server shows: a recording, or a line while it is read. Several threads call it at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "host-tools/command/socket.hpp"

namespace nopscope::host {

class Shown {
public:
    virtual ~Shown() = default;

    struct View {
        std::uint64_t number = 0;  // changes with the view
        std::string json;          // view_json()
        std::string gzip;          // the same, compressed
    };
    // The newest view; null: there is none yet.
    virtual std::shared_ptr<const View> view() = 0;
    // The status as JSON in one line (web/src/status.ts has its fields). `console` counts the bytes
    // of the console's text that were sent before; the call adds the later text, and updates it.
    virtual std::string status(std::uint64_t& console) = 0;
    // Sends a command to the target, and waits some seconds at most for its answer.
    virtual ControlAnswer ask(const ControlRequest& request) = 0;
};

}  // namespace nopscope::host
