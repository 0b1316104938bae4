// SPDX-License-Identifier: Apache-2.0
// Packets of the GDB remote serial protocol: $data#checksum, answered by + or - (send again).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host-tools/line/transport/source.hpp"

namespace nopscope::host {

class GdbPackets {
public:
    // `name`: the connection's name, for messages.
    GdbPackets(std::unique_ptr<Source> connection, std::string name,
               std::chrono::milliseconds patience)
        : connection_(std::move(connection)), name_(std::move(name)), patience_(patience) {}

    // Returns the stub's answer, with run lengths expanded, or nothing after a timeout. Throws
    // Error if the connection is lost or brings something that is not a packet.
    std::optional<std::string> ask(std::string_view request);
    void send(std::string_view request);
    std::optional<std::string> receive();
    // Stops a running target.
    void interrupt();
    const std::string& name() const { return name_; }

private:
    using Clock = std::chrono::steady_clock;
    // Returns the next byte, or nothing if none comes before `end`.
    std::optional<std::uint8_t> byte(Clock::time_point end);
    void write(std::string_view bytes);

    std::unique_ptr<Source> connection_;
    std::string name_;
    std::chrono::milliseconds patience_;
    std::vector<std::uint8_t> came_ = std::vector<std::uint8_t>(std::size_t{1} << 16);
    std::size_t at_ = 0;
    std::size_t end_ = 0;
    std::string last_sent_;
};

// Two hex digits for each byte. Nothing: `digits` is malformed.
std::optional<std::vector<std::uint8_t>> from_hex(std::string_view digits);

}  // namespace nopscope::host
