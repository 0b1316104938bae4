// SPDX-License-Identifier: Apache-2.0
#include "host-tools/command/steering.hpp"

#include <fmt/format.h>

#include "host-tools/command/verbs.hpp"

namespace nopscope::host {

void SteeringOptions::check_names(const Symbols* symbols) const {
    for (const ControlRequest& request : at_start) host::check_names(request, symbols);
}

Steering::Steering(Source& line, const Symbols* symbols, const SteeringOptions& options,
                   std::function<bool()> turn, std::function<void(const std::string&)> say,
                   Figures* figures)
    : symbols_(symbols),
      options_(options),
      client_(line, std::move(turn)),
      say_(std::move(say)),
      figures_(figures) {
    if (!options.socket.empty()) socket_ = std::make_unique<ControlSocket>(options.socket);
}

void Steering::on_session(const HelloInfo& hello) {
    hello_ = hello;
    client_.on_session(hello.session, hello.architecture);
    session_waits_ = true;
    ++sessions_;
}

void Steering::begin_session() {
    session_waits_ = false;
    refusal_.clear();
    const bool first = sessions_ == 1;
    try {
        for (const ControlRequest& request : options_.at_start) {
            // After a reset the filter is no new one.
            const Performed done =
                perform(request, {client_, symbols_, hello_, first ? figures_ : nullptr});
            if (done.late) say_(done.text);
        }
    } catch (const Error& error) {
        refusal_ = error.what();
        if (first) throw;
        say_(std::string("after the target's reset: ") + error.what());
    }
}

std::string Steering::unserved() const {
    if (options_.at_start.empty() || sessions_ == 0) return {};
    if (!session_waits_ && refusal_.empty()) return {};
    return fmt::format(
        "the target was not set as the options ask, so it recorded as its firmware "
        "chose: {}",
        session_waits_ ? "its line ended before it could be asked" : refusal_);
}

ControlAnswer Steering::answer(const ControlRequest& request) {
    try {
        return {Exit::ok, perform(request, {client_, symbols_, hello_, figures_}).text};
    } catch (const Error& error) {
        return {error.code(), error.what()};
    }
}

void Steering::serve(std::uint64_t gaps) {
    while (session_waits_) begin_session();
    if (socket_) {
        if (const auto request = socket_->take()) socket_->answer(answer(*request));
    }
    const auto now = std::chrono::steady_clock::now();
    if (sessions_ == 0 || gaps == gaps_ || now - asked_ < std::chrono::seconds(1)) return;
    gaps_ = gaps;
    asked_ = now;
    try {
        client_.request(protocol::Command::hello);
    } catch (const Error&) {
        // The target sends both by itself, only later.
    }
}

}  // namespace nopscope::host
