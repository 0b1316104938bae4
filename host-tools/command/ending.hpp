// SPDX-License-Identifier: Apache-2.0
// The end of a recording that the host chooses (docs/control.md, "The end"). The target stops
// tracing and sends its records, its profile and its counters. The host waits while frames come.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "host-tools/base/error.hpp"
#include "host-tools/command/client.hpp"
#include "host-tools/line/stream/session.hpp"

namespace nopscope::host {

// Listens to the line from the beginning, so that it knows what has come at the end.
class Ending final : public SessionSink {
public:
    struct Patience {
        std::chrono::milliseconds silence{5000};  // without any frame
        std::chrono::milliseconds all{120000};
    };
    struct Line {
        CommandClient& client;
        // Reads once; returns false if the line is over or a person gives up.
        std::function<bool()> turn;
        std::function<std::uint64_t()> frames;  // number that the line has brought so far
        std::function<void(const ClockPair&)> tell;
    };

    // True if the target's hello says that it takes commands.
    bool can_ask() const { return hello_ && hello_->takes_commands; }
    // Without commands: a sentence if the target keeps a profile and none of it came; else empty.
    std::string unread() const;
    // Returns a sentence about what did not come; empty if all came.
    std::string run(const Line& line, bool keep_tracing);
    void set_patience(const Patience& patience) { patience_ = patience; }

    void on_session(const HelloInfo& hello) override;
    void on_trace(unsigned core, const TraceBatch& batch) override;
    void on_stats(unsigned core, const protocol::Stats& stats) override;
    bool on_profile(unsigned core, const std::uint8_t* payload, std::size_t count) override;

private:
    struct Core {
        bool has_stats = false;
        protocol::Stats stats;         // the newest
        std::uint64_t next_index = 0;  // of its records
        std::uint64_t read_out = 0;    // number of the newest whole profile; 0: none
        std::uint64_t to_come = 0;     // records below this index were made before the stop
    };
    static bool counts_all(const Core& core);
    void stop(const Line& line);
    void read_out(const Line& line);
    void take_stats(const Line& line);
    // Returns false if it did not come.
    bool wait(const Line& line, const std::function<bool()>& came) const;
    bool all(const std::function<bool(const Core&)>& is) const;

    Patience patience_;
    std::optional<HelloInfo> hello_;  // of the current or the last session
    std::array<Core, 256> cores_{};
    std::chrono::steady_clock::time_point begin_{};
};

}  // namespace nopscope::host
