// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "host-tools/line/stream/session.hpp"

namespace nopscope::host {

// Passes each call to several sinks, in order.
class Tee : public SessionSink {
public:
    explicit Tee(SessionSink& only) : sinks_{&only} {}
    Tee(SessionSink& first, SessionSink& second) : sinks_{&first, &second} {}

    // A sink must not call these two.
    void add(SessionSink& sink) { sinks_.push_back(&sink); }
    void remove(SessionSink& sink) { std::erase(sinks_, &sink); }

    void on_origin(std::uint64_t clock) override { each(&SessionSink::on_origin, clock); }
    void on_session(const HelloInfo& hello) override { each(&SessionSink::on_session, hello); }
    void on_session_end() override { each(&SessionSink::on_session_end); }
    void on_trace(unsigned core, const TraceBatch& batch) override {
        each(&SessionSink::on_trace, core, batch);
    }
    void on_missing(unsigned core, const MissingPart& part) override {
        each(&SessionSink::on_missing, core, part);
    }
    void on_stats(unsigned core, const protocol::Stats& stats) override {
        each(&SessionSink::on_stats, core, stats);
    }
    void on_clock_pair(const ClockPair& pair) override { each(&SessionSink::on_clock_pair, pair); }
    bool on_profile(unsigned core, const std::uint8_t* payload, std::size_t count) override {
        return all(&SessionSink::on_profile, core, payload, count);
    }
    bool on_profile_events(unsigned core, const std::uint8_t* payload, std::size_t count) override {
        return all(&SessionSink::on_profile_events, core, payload, count);
    }
    bool on_moved(const std::uint8_t* payload, std::size_t count) override {
        return all(&SessionSink::on_moved, payload, count);
    }
    bool on_tasks(const std::uint8_t* payload, std::size_t count) override {
        return all(&SessionSink::on_tasks, payload, count);
    }
    void on_reply(const protocol::Reply& reply) override { each(&SessionSink::on_reply, reply); }
    void on_console(std::string_view text) override { each(&SessionSink::on_console, text); }
    void on_raw_text(std::string_view text) override { each(&SessionSink::on_raw_text, text); }
    void on_corrupt(std::span<const std::uint8_t> chunk) override {
        each(&SessionSink::on_corrupt, chunk);
    }
    void on_unused(const protocol::FrameHeader& header,
                   std::span<const std::uint8_t> payload) override {
        each(&SessionSink::on_unused, header, payload);
    }
    const Error* failure() const override {
        for (const SessionSink* sink : sinks_) {
            if (const Error* const one = sink->failure()) return one;
        }
        return nullptr;
    }

private:
    void each(auto call, const auto&... arguments) {
        for (SessionSink* const sink : sinks_) (sink->*call)(arguments...);
    }
    bool all(auto call, const auto&... arguments) {
        bool good = true;
        for (SessionSink* const sink : sinks_) good &= (sink->*call)(arguments...);
        return good;
    }

    std::vector<SessionSink*> sinks_;
};

}  // namespace nopscope::host
