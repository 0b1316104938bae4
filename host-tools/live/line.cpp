// SPDX-License-Identifier: Apache-2.0
#include "host-tools/live/line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/image/read_symbols.hpp"
#include "host-tools/line/stream/same_image.hpp"

namespace nopscope::host {
namespace {

// After a silence this long, no frame is pending: the bytes may be shown as text.
constexpr std::chrono::milliseconds text_silence{200};

// A QEMU line has a read for every few bytes, up to 60,000 a second. After a read of fewer bytes
// than `few_bytes`, the reader lets more gather for `gathering`. In that time 1,200 bytes come at
// 12 Mbaud; Linux buffers 4,096 bytes of a serial port.
constexpr std::size_t few_bytes = 512;
constexpr std::chrono::milliseconds gathering{1};

}  // namespace

std::optional<Symbols> symbols_of(const LineOptions& options) {
    if (options.image.empty()) return std::nullopt;
    Symbols symbols = read_symbols(ElfFile::open(options.image));
    const auto broken = not_allowed(symbols.broken_by_tracing, options.allow_convention);
    if (broken.empty()) return symbols;
    throw Error(fmt::format(
        "{}; --allow-convention GLOB accepts such functions{}",
        problem_text(options.image, broken.front()),
        broken.size() == 1
            ? ""
            : fmt::format(" (one of {}: nopscope check names all)", with_commas(broken.size()))));
}

bool goes_one_way(const LineOptions& options) {
    return options.from == "-" || options.from.starts_with("file:") ||
           is_memory(options.from, options.memory);
}

std::unique_ptr<Source> open_line(const LineOptions& options, Way way, const Say& say,
                                  Errors errors) {
    if (!is_memory(options.from, options.memory)) return open_source(options.from, way, errors);
    if (options.steering.steers()) {
        throw Error(options.from + ": a target's memory takes no commands", Exit::usage);
    }
    return open_memory_source(options.from, options.image, options.memory, say);
}

Source::Result LineReader::wait(std::chrono::milliseconds timeout) {
    if (got_.count != 0 && got_.count < few_bytes) std::this_thread::sleep_for(gathering);
    got_ = {};
    if (const auto searched = listening_.search(buffer_, timeout)) {
        arrival_ = {.from_ns = emptied_ns_, .to_ns = utc_now_ns()};
        return got_ = *searched;
    }
    const std::uint64_t begin_ns = utc_now_ns();
    got_ = source_.read(buffer_, timeout);
    arrival_ = {.from_ns = emptied_ns_, .to_ns = utc_now_ns()};
    if (got_.count < buffer_.size()) emptied_ns_ = begin_ns;
    return got_;
}

// A frame's arrival is that of its first byte, which an earlier read may have brought.
void LineReader::feed(std::span<const std::uint8_t> rest) {
    const auto zero = std::find(rest.begin(), rest.end(), std::uint8_t{0});
    if (begun_ && zero != rest.end()) {
        const auto count = static_cast<std::size_t>(zero - rest.begin()) + 1;
        reader_.set_arrival(*begun_);
        reader_.feed(rest.first(count));
        rest = rest.subspan(count);
        begun_.reset();
    }
    reader_.set_arrival(arrival_);
    reader_.feed(rest);
    if (!begun_ && !rest.empty() && rest.back() != 0) begun_ = arrival_;
}

void LineReader::take(Clock::time_point now) {
    if (listening_.take_change()) change_rate();
    if (got_.count != 0) {
        auto rest = bytes();
        // An emulated port has no rate: frames may follow the announcement in the same read.
        while (const std::size_t count = listening_.follow(rest, reader_)) {
            feed(rest.first(count));
            change_rate();
            rest = rest.subspan(count);
        }
        feed(rest);
        last_byte_ = now;
    } else if (now - last_byte_ > text_silence) {
        reader_.show_pending_text();
    }
    listening_.take(bytes(), reader_, now);
}

void LineReader::change_rate() {
    reader_.change_rate();
    begun_.reset();
}

void LineReader::cut() {
    static constexpr std::uint8_t delimiter[] = {0};
    reader_.feed(delimiter);
    begun_.reset();
    emptied_ns_ = utc_now_ns();
    listening_.restart(Clock::now());
}

void read_to_the_end(const std::function<bool()>& turn, const std::function<void()>& between) {
    while (turn()) {
        try {
            between();
        } catch (const Error&) {
            if (turn()) throw;  // otherwise the end of the line is the reason
        }
    }
}

void TargetSink::on_session(const HelloInfo& hello) {
    if (figures_ != nullptr && figures_->failure() != nullptr) throw *figures_->failure();
    if (symbols_ != nullptr) {
        if (const auto sentence = mismatch(*symbols_, hello)) throw Error(*sentence);
    }
    if (steering != nullptr) steering->on_session(hello);
}

void TargetSink::on_reply(const protocol::Reply& reply) {
    if (steering != nullptr) steering->on_reply(reply);
}

}  // namespace nopscope::host
