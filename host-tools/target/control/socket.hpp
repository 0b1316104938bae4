// SPDX-License-Identifier: Apache-2.0
// A recorder's control socket: `ctl --via unix:PATH` hands it requests while it holds the line.
//
//     ctl       one line of JSON: a ControlRequest (request.hpp)
//     recorder  one line of JSON: {"status": the exit code, "text": what to print}, and closes
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "host-tools/base/error.hpp"
#include "host-tools/target/control/request.hpp"

namespace nopscope::host {

struct ControlAnswer {
    Exit status = Exit::ok;
    std::string text;
};

class ControlSocket {
public:
    // A socket file that nobody listens to any more is replaced. Only its owner may use it. Throws Error.
    explicit ControlSocket(const std::string& path);
    ~ControlSocket();
    ControlSocket(const ControlSocket&) = delete;
    ControlSocket& operator=(const ControlSocket&) = delete;

    // Takes what has come, without waiting: one request, of the peer that asked first. That peer is
    // answered next. A peer without a whole request two seconds after it connected is closed; the
    // oldest one sooner if there are too many.
    std::optional<ControlRequest> take();
    void answer(const ControlAnswer& answer);

private:
    using Clock = std::chrono::steady_clock;
    struct Peer {
        int descriptor;
        std::string line;
        Clock::time_point since;  // it was accepted
    };
    void drop(std::size_t peer);
    void accept_peers();

    std::string path_;
    int listener_ = -1;
    std::vector<Peer> peers_;  // in the order of `since`; but the first one while it is answered
};

// The other side. Throws Error.
ControlAnswer ask_recorder(const std::string& path, const ControlRequest& request);

}  // namespace nopscope::host
