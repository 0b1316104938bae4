// SPDX-License-Identifier: Apache-2.0
// A recorder's control socket: `ctl --via unix:PATH` sends it requests while it holds the line.
//
//     ctl       one line of JSON: a ControlRequest (request.hpp)
//     recorder  one line of JSON: {"status": the exit code, "text": what to print}, and closes
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host-tools/base/error.hpp"
#include "host-tools/command/request.hpp"

namespace nopscope::host {

// Convert to and from a line of JSON. Throw Error.
std::string to_json(const ControlRequest& request);
ControlRequest control_request(std::string_view json);

struct ControlAnswer {
    Exit status = Exit::ok;
    std::string text;
};

class ControlSocket {
public:
    // Replaces a socket file that no process uses. Only the owner has access. Throws Error.
    explicit ControlSocket(const std::string& path);
    ~ControlSocket();
    ControlSocket(const ControlSocket&) = delete;
    ControlSocket& operator=(const ControlSocket&) = delete;

    // Returns one request, of the peer that asked first, without waiting; answer() then answers
    // that peer. A peer that sends no whole request within two seconds is closed. If there are too
    // many peers, the oldest is closed sooner.
    std::optional<ControlRequest> take();
    void answer(const ControlAnswer& answer);

private:
    using Clock = std::chrono::steady_clock;
    struct Peer {
        int descriptor;
        std::string line;
        Clock::time_point since;  // when it was accepted
    };
    void drop(std::size_t peer);
    void accept_peers();

    std::string path_;
    int listener_ = -1;
    std::vector<Peer> peers_;  // in order of `since`, except the first while it is answered
};

// The client's side: sends the request and waits for the answer. Throws Error.
ControlAnswer ask_recorder(const std::string& path, const ControlRequest& request);

}  // namespace nopscope::host
