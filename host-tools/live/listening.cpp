// SPDX-License-Identifier: Apache-2.0
#include "host-tools/live/listening.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host-tools/base/error.hpp"
#include "host-tools/line/stream/baud.hpp"

namespace nopscope::host {
namespace {

using namespace std::chrono_literals;

// An idle target sends a hello each second. On a busy line some frames' bytes are enough.
constexpr auto longest_try = 1200ms;
constexpr std::uint64_t enough_bytes = 4 * protocol::max_encoded_bytes;

struct Nothing final : SessionSink {
    void on_trace(unsigned /*core*/, const TraceBatch&) override {}
} nothing;

}  // namespace

BaudSearch::BaudSearch(Source& line, const std::vector<std::uint32_t>& likely)
    : line_(line), before_(line.baud()) {
    const auto add = [this](std::uint32_t baud) {
        const bool is_known =
            baud == before_ || std::find(bauds_.begin(), bauds_.end(), baud) != bauds_.end();
        if (!is_known) bauds_.push_back(baud);
    };
    for (const std::uint32_t baud : likely) add(baud);
    for (const std::uint32_t baud : common_bauds) add(baud);
}

BaudSearch::~BaudSearch() {
    if (stays_) return;
    try {
        line_.set_baud(before_);
    } catch (const Error&) {  // the line is lost: the next read says so
    }
}

void BaudSearch::try_next() {
    reader_ = std::make_unique<SessionReader>(nothing);
    boot_ = {};
    heard_.clear();
    until_ = Clock::now() + longest_try;
    while (next_ < bauds_.size()) {
        try {
            line_.set_baud(bauds_[next_++]);
            return;
        } catch (const Error&) {  // the port cannot make this rate
        }
    }
    ++next_;
}

Source::Result BaudSearch::listen(std::chrono::milliseconds timeout) {
    const bool is_enough = reader_ != nullptr && reader_->line().bytes > enough_bytes;
    if (reader_ == nullptr || is_enough || Clock::now() > until_) try_next();
    if (is_over()) return {};
    const Source::Result got = line_.read(buffer_, timeout);
    const std::span<const std::uint8_t> bytes(buffer_.data(), got.count);
    heard_.insert(heard_.end(), bytes.begin(), bytes.end());
    reader_->feed(bytes);
    for (std::size_t at = 0; at < bytes.size();) at += boot_.feed(bytes.subspan(at), true);
    if (reader_->line().frames != 0) found_ = bauds_[next_ - 1];
    if (const auto announced = boot_.take_baud(); announced && !found_) {
        try {
            line_.follow_baud(*announced);
            found_ = announced;
        } catch (const Error&) {  // the port cannot make this rate
        }
    }
    return {0, got.closed};
}

std::optional<Source::Result> Listening::search(std::span<std::uint8_t> to,
                                                std::chrono::milliseconds timeout) {
    if (!search_) return std::nullopt;
    Source::Result got = search_->listen(timeout);
    if (search_->found() && line_.may_try_rates()) {
        search_->stay();
        has_changed_ = true;
        got.count = std::min(to.size(), search_->heard().size());
        std::copy_n(search_->heard().end() - static_cast<long>(got.count), got.count, to.begin());
    }
    return got;
}

std::size_t Listening::follow(std::span<const std::uint8_t> bytes, const SessionReader& reader) {
    if (line_.baud() == 0) return 0;
    for (std::size_t at = 0; at < bytes.size();) {
        at += boot_.feed(bytes.subspan(at), reader.line().frames == 0);
        const auto announced = boot_.take_baud();
        if (announced && change_to(*announced)) return at;
    }
    return 0;
}

bool Listening::change_to(std::uint32_t announced) {
    announced_baud_ = announced;
    if (announced == line_.baud()) return false;
    try {
        line_.follow_baud(announced);
    } catch (const Error& error) {
        found_ = {Diagnosis::noise,
                  fmt::format("the target goes on at {} baud, which the port does not make ({})",
                              announced, error.what()),
                  "use another adapter, or build the firmware for a lower rate"};
        return false;
    }
    found_.reset();
    restart(Clock::now());
    return true;
}

void Listening::take_found() {
    if (const auto baud = search_->found(); baud && line_.may_try_rates()) {
        found_.reset();
        first_bytes_.clear();
        begin_ = Clock::now();
        search_.reset();
        return;
    } else if (baud) {
        found_ = {Diagnosis::noise,
                  fmt::format("frames come at {} baud, and not at {}", *baud, baud_),
                  fmt::format("give ?baud={}", *baud)};
    } else {
        const bool is_known = !changed_.what.empty();
        found_ = {is_known ? Diagnosis::changed : Diagnosis::noise,
                  fmt::format("bytes came, and no frame at {} baud or another common rate{}{}",
                              baud_, is_known ? ": " : "", changed_.what),
                  is_known ? changed_.fix : "is this a nopscope target's line?"};
    }
    search_.reset();
}

void Listening::take(std::span<const std::uint8_t> bytes, const SessionReader& reader,
                     Clock::time_point now) {
    if (search_) {
        if (!search_->is_over()) return;
        take_found();
        if (line_.may_try_rates()) restart(now);
    }
    is_heard_ = is_heard_ || reader.has_session();
    if (is_heard_ && !line_.may_try_rates()) return;
    if (line_.may_try_rates() && reader.line().frames != frames_) {
        frames_ = reader.line().frames;
        restart(now);
        return;
    }
    baud_ = line_.baud();
    first_bytes_.insert(first_bytes_.end(), bytes.begin(),
                        bytes.begin() + static_cast<long>(std::min(
                                            bytes.size(), most_bytes - first_bytes_.size())));
    // It takes some 10 ms: not at each read.
    if (!is_heard_ && first_bytes_.size() > std::max<std::size_t>(64, 2 * judged_bytes_)) {
        judged_bytes_ = first_bytes_.size();
        changed_ = change_of(first_bytes_);
    }
    begin_search(reader, now);
}

// Begins a search if one is due.
void Listening::begin_search(const SessionReader& reader, Clock::time_point now) {
    if (has_searched_ || baud_ == 0) return;
    const bool is_first = line_.may_try_rates() && !is_heard_;
    if (now - begin_ < (is_first ? patience_to_follow : patience)) return;
    if (first_bytes_.size() < (is_first ? fewest_bytes_to_follow : fewest_bytes_to_search)) return;
    // At a wrong rate bytes may look as if they were changed.
    const ByteChange changed = changed_.is_proven ? changed_ : ByteChange();
    const Diagnosis::Kind what =
        line_.may_try_rates() ? kind(changed) : judge(reader, now, changed).kind;
    if (what != Diagnosis::noise && what != Diagnosis::zeros) return;
    has_searched_ = true;
    search_ = std::make_unique<BaudSearch>(line_, known_bauds());
}

// Classifies the bytes since the last frame.
Diagnosis::Kind Listening::kind(const ByteChange& changed) const {
    LineCounters line{.bytes = first_bytes_.size()};
    line.stray_zeros = static_cast<std::uint64_t>(
        std::count(first_bytes_.begin(), first_bytes_.end(), std::uint8_t{0}));
    return diagnose({.bytes = first_bytes_,
                     .line = line,
                     .stream = {},
                     .baud = baud_,
                     .changed = changed})
        .kind;
}

// The rates that a search tries first.
std::vector<std::uint32_t> Listening::known_bauds() const {
    std::vector<std::uint32_t> bauds = likely_bauds(first_bytes_, baud_);
    if (!line_.may_try_rates()) return bauds;
    std::vector<std::uint32_t> known{first_baud_};
    if (announced_baud_) known.push_back(*announced_baud_);
    known.insert(known.end(), bauds.begin(), bauds.end());
    known.insert(known.end(), {3000000, 1000000, 2000000, 4000000});
    return known;
}

void Listening::restart(Clock::time_point now) {
    begin_ = now;
    first_bytes_.clear();
    judged_bytes_ = 0;
    changed_ = {};
    if (line_.may_try_rates()) has_searched_ = false;
}

Diagnosis Listening::diagnosis(const SessionReader& reader, Clock::time_point now) const {
    Diagnosis said = judge(reader, now, change_of(first_bytes_));
    const bool may_be_taken = said.kind == Diagnosis::silence || said.kind == Diagnosis::noise ||
                              said.kind == Diagnosis::zeros || said.kind == Diagnosis::frames;
    if (const std::string others = may_be_taken ? line_.others() : ""; !others.empty())
        said.fix += " " + others_sentence(others);
    return said;
}

Diagnosis Listening::judge(const SessionReader& reader, Clock::time_point now,
                           ByteChange changed) const {
    if (found_ && reader.line().frames == 0) return *found_;
    return diagnose({.bytes = first_bytes_,
                     .line = reader.line(),
                     .stream = reader.counters(),
                     .baud = baud_,
                     .seconds = std::chrono::duration<double>(now - begin_).count(),
                     .changed = std::move(changed)});
}

std::optional<std::string> Listening::complaint(const SessionReader& reader,
                                                Clock::time_point now) {
    if (is_heard_) return std::nullopt;
    // The search will soon set the right rate, or `found_` will say why not.
    const bool may_help_itself = line_.may_try_rates() && search_ != nullptr;
    if (may_help_itself || (!found_ && now - begin_ < patience)) return std::nullopt;
    const Diagnosis::Kind kind = judge(reader, now, changed_).kind;
    const bool is_news = told_ != kind || (found_ && !found_is_told_);
    if (!is_news) return std::nullopt;
    told_ = kind;
    found_is_told_ = found_.has_value();
    return diagnosis(reader, now).sentence();
}

}  // namespace nopscope::host
