// SPDX-License-Identifier: Apache-2.0
// What a server has to show: a recording, or a line while it is read. Asked from several threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "host-tools/target/control/socket.hpp"

namespace nopscope::host {

class Shown {
public:
    virtual ~Shown() = default;

    struct View {
        std::uint64_t number = 0;  // another one for another view
        std::string json;          // view_json()
        std::string gzip;          // the same, packed
    };
    // The newest there is; null: nothing can be shown yet.
    virtual std::shared_ptr<const View> view() = 0;
    // How things are, as JSON in one line (web/src/status.ts has its fields): with the console's text since `console`,
    // bytes of it that were told already, which becomes what has been told by then.
    virtual std::string status(std::uint64_t& console) = 0;
    // Asks the target. Waits for the answer, some seconds at most.
    virtual ControlAnswer ask(const ControlRequest& request) = 0;
};

}  // namespace nopscope::host
