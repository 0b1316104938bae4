// SPDX-License-Identifier: Apache-2.0
#include "host-tools/live/reconnecting_source.hpp"

#include <thread>

#include "host-tools/base/error.hpp"

namespace nopscope::host {

using Clock = std::chrono::steady_clock;

void ReconnectingSource::lose(const std::string& why) {
    source_.reset();
    ++losses_;
    why_ = why;
    next_attempt_ = Clock::now() + pause_;
}

void ReconnectingSource::open_anew() {
    auto source = open_();
    // If the target was not reset meanwhile, it still uses this rate.
    if (baud_ != 0 && source->baud() != 0) source->set_baud(baud_);
    source_ = std::move(source);
}

void ReconnectingSource::reopen() {
    source_.reset();  // first: a port may be open only once
    open_anew();
}

Source::Result ReconnectingSource::read(std::span<std::uint8_t> to,
                                        std::chrono::milliseconds timeout) {
    if (!by_itself_) return source_->read(to, timeout);
    if (is_lost()) {
        if (Clock::now() < next_attempt_) {
            std::this_thread::sleep_for(timeout);
            return {};
        }
        try {
            open_anew();
        } catch (const Error& error) {
            why_ = error.what();
            next_attempt_ = Clock::now() + pause_;
            return {};
        }
    }
    try {
        const Result got = source_->read(to, timeout);
        if (!got.closed) return got;
        lose("the other side has closed it");
        return {got.count, false};
    } catch (const Error& error) {
        lose(error.what());
    }
    return {};
}

Source& ReconnectingSource::line() {
    if (is_lost()) throw Error("the line is lost: " + why_);
    return *source_;
}

void ReconnectingSource::write(std::span<const std::uint8_t> bytes) { line().write(bytes); }

void ReconnectingSource::set_baud(std::uint32_t baud) {
    line().set_baud(baud);
    baud_ = baud;
}

void ReconnectingSource::follow_baud(std::uint32_t baud) {
    line().follow_baud(baud);
    baud_ = baud;
}

}  // namespace nopscope::host
