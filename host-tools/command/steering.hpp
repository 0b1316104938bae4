// SPDX-License-Identifier: Apache-2.0
// Steering: a recorder sends commands to its target between two reads of the line.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host-tools/command/client.hpp"
#include "host-tools/command/request.hpp"
#include "host-tools/command/socket.hpp"
#include "host-tools/line/stream/session.hpp"

namespace nopscope::host {

struct SteeringOptions {
    std::vector<ControlRequest> at_start;  // of each session, in this order
    std::string socket;                    // path of a control socket; empty: none

    // Throws Error (Exit::usage) if a name is no function of the image. Null: no image is given.
    void check_names(const Symbols* symbols) const;
    bool steers() const { return !at_start.empty() || !socket.empty(); }
};

class Steering {
public:
    // `turn`: as for CommandClient. `symbols`: of the image, or null. `say` takes a sentence.
    // `figures`: those that this host shows, or null.
    Steering(Source& line, const Symbols* symbols, const SteeringOptions& options,
             std::function<bool()> turn, std::function<void(const std::string&)> say,
             Figures* figures = nullptr);

    // The line's sink calls these.
    void on_session(const HelloInfo& hello);
    void on_reply(const protocol::Reply& reply) { client_.on_reply(reply); }

    // Call it between two turns; it sends the requests that are due. Throws Error if the target of
    // the first session refuses a request of the start. In a later session it says so, and
    // continues. `gaps`: of the line so far. After a new one it asks for what a reader needs.
    void serve(std::uint64_t gaps);
    // After the line's end: why the target was not set as the start's requests ask, one sentence.
    // Empty: it was, or no session was heard.
    std::string unserved() const;
    // Carries out the request, between two turns. The answer holds an error as a sentence.
    ControlAnswer answer(const ControlRequest& request);
    CommandClient& client() { return client_; }

private:
    void begin_session();

    const Symbols* symbols_;
    const SteeringOptions& options_;
    CommandClient client_;
    std::function<void(const std::string&)> say_;
    Figures* figures_;
    std::unique_ptr<ControlSocket> socket_;
    HelloInfo hello_;
    bool session_waits_ = false;
    std::string refusal_;  // of the session's requests; empty: none
    unsigned sessions_ = 0;
    std::uint64_t gaps_ = 0;
    std::chrono::steady_clock::time_point asked_{};
};

}  // namespace nopscope::host
