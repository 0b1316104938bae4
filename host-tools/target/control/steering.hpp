// SPDX-License-Identifier: Apache-2.0
// Steering: what a recorder asks of its target while it records, between two reads of the line.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host-tools/target/control/client.hpp"
#include "host-tools/target/control/socket.hpp"
#include "host-tools/target/stream/session.hpp"

namespace nopscope::host {

struct SteeringOptions {
    std::vector<ControlRequest> at_start;  // of each session, in this order
    std::string socket;                    // path of a control socket; empty: none

    // Throws Error, Exit::usage, where a name is no function's of the image; null: none was given.
    void check_names(const Symbols* symbols) const;
    bool steers() const { return !at_start.empty() || !socket.empty(); }
};

class Steering {
public:
    // `turn`: CommandClient's. `symbols`: null, or of the image. `say`: what a person should know, a sentence.
    Steering(Source& line, const Symbols* symbols, const SteeringOptions& options,
             std::function<bool()> turn, std::function<void(const std::string&)> say);

    // From the line's sink.
    void on_session(const HelloInfo& hello);
    void on_reply(const protocol::Reply& reply) { client_.on_reply(reply); }

    // Between two turns: does what is asked for. Throws Error where the first session's target does not
    // do what it is to do at the start; says so, and goes on, at a later session's.
    // `gaps`: of the line so far; after a new one the target is asked for what a reader needs.
    void serve(std::uint64_t gaps);
    // Likewise: does it. What is wrong is in the answer.
    ControlAnswer answer(const ControlRequest& request);
    CommandClient& client() { return client_; }

private:
    void begin_session();

    const Symbols* symbols_;
    const SteeringOptions& options_;
    CommandClient client_;
    std::function<void(const std::string&)> say_;
    std::unique_ptr<ControlSocket> socket_;
    HelloInfo hello_;
    bool session_waits_ = false;
    unsigned sessions_ = 0;
    std::uint64_t gaps_ = 0;
    std::chrono::steady_clock::time_point asked_{};
};

}  // namespace nopscope::host
