// SPDX-License-Identifier: Apache-2.0
#include "host-tools/live/listening.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host-tools/base/error.hpp"
#include "host-tools/line/baud.hpp"

namespace nopscope {
namespace {

using namespace std::chrono_literals;

// An idle target sends a hello each second. On a busy line some frames' bytes are enough.
constexpr auto longest_try = 1200ms;
constexpr std::uint64_t enough_bytes = 4 * wire::max_encoded_bytes;

struct Nothing final : SessionSink {
    void on_trace(unsigned /*core*/, const TraceBatch&) override {}
} nothing;

}  // namespace

BaudSearch::BaudSearch(Source& line, const std::vector<std::uint32_t>& likely)
    : line_(line), before_(line.baud()), bauds_(likely) {
    for (const std::uint32_t baud : common_bauds) {
        const bool is_known =
            baud == before_ || std::find(bauds_.begin(), bauds_.end(), baud) != bauds_.end();
        if (!is_known) bauds_.push_back(baud);
    }
}

BaudSearch::~BaudSearch() {
    try {
        line_.set_baud(before_);
    } catch (const Error&) {  // the line is lost: reading it says so
    }
}

void BaudSearch::try_next() {
    reader_ = std::make_unique<SessionReader>(nothing);
    until_ = Clock::now() + longest_try;
    while (next_ < bauds_.size()) {
        try {
            line_.set_baud(bauds_[next_++]);
            return;
        } catch (const Error&) {  // a rate that the port cannot make
        }
    }
    ++next_;
}

Source::Result BaudSearch::listen(std::chrono::milliseconds timeout) {
    const bool is_enough = reader_ != nullptr && reader_->line().bytes > enough_bytes;
    if (reader_ == nullptr || is_enough || Clock::now() > until_) try_next();
    if (is_over()) return {};
    const Source::Result got = line_.read(buffer_, timeout);
    reader_->feed({buffer_.data(), got.count});
    if (reader_->line().frames != 0) found_ = bauds_[next_ - 1];
    return {0, got.closed};
}

std::optional<Source::Result> Listening::search(std::chrono::milliseconds timeout) {
    if (!search_) return std::nullopt;
    return search_->listen(timeout);
}

void Listening::take(std::span<const std::uint8_t> bytes, const SessionReader& reader,
                     Clock::time_point now) {
    if (search_) {
        if (!search_->is_over()) return;
        if (const auto baud = search_->found()) {
            found_ = {Diagnosis::noise,
                      fmt::format("frames come at {} baud, and not at {}", *baud, baud_),
                      fmt::format("give ?baud={}", *baud)};
        } else {
            found_ = {
                Diagnosis::noise,
                fmt::format("bytes came, and no frame at {} baud or another common rate", baud_),
                "is this a nopscope target's line?"};
        }
        search_.reset();
    }
    is_heard_ = is_heard_ || reader.has_session();
    if (is_heard_) return;
    baud_ = line_.baud();
    first_bytes_.insert(first_bytes_.end(), bytes.begin(),
                        bytes.begin() + static_cast<long>(std::min(
                                            bytes.size(), most_bytes - first_bytes_.size())));
    if (has_searched_ || baud_ == 0 || first_bytes_.size() < fewest_bytes_to_search ||
        now - begin_ < patience)
        return;
    const Diagnosis::Kind kind = diagnosis(reader, now).kind;
    if (kind != Diagnosis::noise && kind != Diagnosis::zeros) return;
    has_searched_ = true;
    search_ = std::make_unique<BaudSearch>(line_, likely_bauds(first_bytes_, baud_));
}

void Listening::restart(Clock::time_point now) {
    begin_ = now;
    first_bytes_.clear();
}

Diagnosis Listening::diagnosis(const SessionReader& reader, Clock::time_point now) const {
    if (found_ && reader.line().frames == 0) return *found_;
    return diagnose({.bytes = first_bytes_,
                     .line = reader.line(),
                     .stream = reader.counters(),
                     .baud = baud_,
                     .seconds = std::chrono::duration<double>(now - begin_).count()});
}

std::optional<std::string> Listening::complaint(const SessionReader& reader,
                                                Clock::time_point now) {
    if (is_heard_ || now - begin_ < patience) return std::nullopt;
    const Diagnosis said = diagnosis(reader, now);
    const bool is_news = told_ != said.kind || (found_ && !found_is_told_);
    if (!is_news) return std::nullopt;
    told_ = said.kind;
    found_is_told_ = found_.has_value();
    return said.sentence();
}

}  // namespace nopscope
