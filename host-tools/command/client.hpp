// SPDX-License-Identifier: Apache-2.0
// The host's side of commands (docs/control.md). It sends one command at a time, with a number, and
// repeats it until the answer comes. A target carries out each number once, so repeating is safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "host-tools/line/transport/source.hpp"
#include "tracer/protocol/command.hpp"
#include "tracer/protocol/hello.hpp"

namespace nopscope::host {

class CommandClient {
public:
    using Bytes = std::vector<std::uint8_t>;

    // `turn` reads the line for some milliseconds, and calls on_session and on_reply with what it
    // decodes. It returns false when the line is over.
    CommandClient(Source& line, std::function<bool()> turn) : line_(line), turn_(std::move(turn)) {}

    // Call it with the session of each hello.
    void on_session(std::uint16_t session, protocol::Architecture architecture = {});
    // `count`: frames that the line has brought. While it rises, a hello is awaited for longer.
    void on_frames(std::uint64_t count);
    void on_reply(const protocol::Reply& reply);

    // Waits for a session. Throws Error if none comes.
    void wait_for_target();
    // Returns the result. Throws Error, with a sentence that says what to do, if the target
    // refuses, or does not answer within some seconds. If the target carried out the request
    // although a core did not react in time, take_late() says so.
    Bytes request(protocol::Command what, std::span<const std::uint8_t> arguments = {});
    // True if a core stayed in the tracer's code for a second during a request since the last call.
    bool take_late() { return std::exchange(late_, false); }
    // Changes the rate of both sides. Throws Error if the target does not answer at the new rate;
    // then both sides are back at the old rate.
    void set_baud(std::uint32_t baud);

    // After a reset: waits for the next session. Throws Error if none comes.
    void wait_for_other_session();

    // utc_now_ns() before the last request was first sent, and after its answer came.
    std::pair<std::uint64_t, std::uint64_t> exchanged() const { return {sent_ns_, answered_ns_}; }

    // For tests.
    struct Patience {
        std::chrono::milliseconds answer{400};  // then the client repeats the command
        unsigned attempts = 12;
        std::chrono::milliseconds hello{5000};          // while no frame comes
        std::chrono::milliseconds hello_behind{20000};  // while frames come, perhaps older ones
        std::chrono::milliseconds trial{2500};          // the target gives up a new rate after 2 s
    };
    void set_patience(const Patience& patience) { patience_ = patience; }

private:
    struct Answered {
        protocol::Answer answer;
        Bytes result;
    };
    // Returns nothing if no answer came.
    std::optional<Answered> exchange(std::uint32_t number, protocol::Command what,
                                     std::span<const std::uint8_t> arguments, unsigned attempts);
    std::optional<Answered> ping(unsigned attempts);
    std::uint32_t next_number();
    void wait(std::chrono::milliseconds time);

    Source& line_;
    std::function<bool()> turn_;
    Patience patience_;
    std::optional<std::uint16_t> session_;
    protocol::Architecture architecture_{};  // for sentences
    std::uint64_t frames_ = 0;
    std::chrono::steady_clock::time_point frames_at_{};  // when `count` last rose
    std::optional<std::uint32_t> last_number_;           // in the current session
    bool awaiting_ = false;
    std::uint32_t awaited_ = 0;
    protocol::Command awaited_what_{};
    std::optional<Answered> answered_;
    std::uint64_t sent_ns_ = 0;
    std::uint64_t answered_ns_ = 0;
    std::uint32_t pings_ = 0;
    bool late_ = false;
};

// The payloads of select_add that describe the chosen sites, in as few frames as possible.
std::vector<std::vector<std::uint8_t>> range_payloads(const std::vector<bool>& chosen);

// Describes the answer, as a part of a sentence.
const char* describe(protocol::Answer answer);

}  // namespace nopscope::host
