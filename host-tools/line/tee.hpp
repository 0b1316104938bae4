// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host-tools/line/session.hpp"

namespace nopscope {

// Tells two sinks, the first one first.
class Tee final : public SessionSink {
public:
    Tee(SessionSink& first, SessionSink& second) : first_(first), second_(second) {}

    void on_session(const HelloInfo& hello) override {
        first_.on_session(hello);
        second_.on_session(hello);
    }
    void on_session_end() override {
        first_.on_session_end();
        second_.on_session_end();
    }
    void on_trace(unsigned core, const TraceBatch& batch) override {
        first_.on_trace(core, batch);
        second_.on_trace(core, batch);
    }
    void on_missing(unsigned core, const MissingPart& part) override {
        first_.on_missing(core, part);
        second_.on_missing(core, part);
    }
    void on_stats(unsigned core, const wire::Stats& stats) override {
        first_.on_stats(core, stats);
        second_.on_stats(core, stats);
    }
    bool on_profile(unsigned core, const std::uint8_t* payload, std::size_t count) override {
        const bool good = first_.on_profile(core, payload, count);
        return second_.on_profile(core, payload, count) && good;
    }
    bool on_profile_events(unsigned core, const std::uint8_t* payload, std::size_t count) override {
        const bool good = first_.on_profile_events(core, payload, count);
        return second_.on_profile_events(core, payload, count) && good;
    }
    bool on_moved(const std::uint8_t* payload, std::size_t count) override {
        const bool good = first_.on_moved(payload, count);
        return second_.on_moved(payload, count) && good;
    }
    void on_reply(const wire::Reply& reply) override {
        first_.on_reply(reply);
        second_.on_reply(reply);
    }
    void on_console(std::string_view text) override {
        first_.on_console(text);
        second_.on_console(text);
    }
    void on_raw_text(std::string_view text) override {
        first_.on_raw_text(text);
        second_.on_raw_text(text);
    }
    void on_corrupt(std::span<const std::uint8_t> chunk) override {
        first_.on_corrupt(chunk);
        second_.on_corrupt(chunk);
    }
    void on_unused(const wire::FrameHeader& header, std::span<const std::uint8_t> payload) override {
        first_.on_unused(header, payload);
        second_.on_unused(header, payload);
    }

private:
    SessionSink& first_;
    SessionSink& second_;
};

}  // namespace nopscope
