// SPDX-License-Identifier: Apache-2.0
// Bytes from the line -> chunks between zero bytes -> frames whose CRC holds.
//
// Everything else is counted, never guessed at. Memory is one chunk: a chunk that outgrows the
// longest frame is handed on in pieces. A chunk of plain text (a boot loader, a panic before init)
// is no frame and counts as one corrupt one, but its text is handed on.
#pragma once

#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "host-tools/base/text.hpp"
#include "tracer/wire/frame.hpp"

namespace nopscope {

struct LineCounters {
    std::uint64_t bytes = 0;
    std::uint64_t frames = 0;
    std::uint64_t corrupt_frames = 0;  // chunks that are no frame
    std::uint64_t raw_bytes = 0;       // of those, bytes in chunks of plain text
    std::uint64_t stray_zeros = 0;     // delimiters with nothing before them
    std::uint64_t cut_bytes = 0;       // after the last delimiter, at the end

    bool operator==(const LineCounters&) const = default;
};

// As a recording has them: new ones are appended.
inline constexpr std::uint64_t LineCounters::*line_fields[] = {
    &LineCounters::bytes,     &LineCounters::frames,      &LineCounters::corrupt_frames,
    &LineCounters::raw_bytes, &LineCounters::stray_zeros, &LineCounters::cut_bytes,
};
static_assert(sizeof(LineCounters) == std::size(line_fields) * sizeof(std::uint64_t));

class Deframer {
public:
    Deframer() { chunk_.reserve(wire::max_encoded_bytes); }

    // Sink: on_frame(const wire::ParsedFrame&), on_text(std::string_view), and for all else, as it
    // came: on_corrupt(std::span<const std::uint8_t>).
    template <typename Sink>
    void feed(std::span<const std::uint8_t> bytes, Sink& sink) {
        counters_.bytes += bytes.size();
        while (!bytes.empty()) {
            const void* zero = std::memchr(bytes.data(), 0, bytes.size());
            if (zero == nullptr) return keep(bytes, sink);
            const auto count =
                static_cast<std::size_t>(static_cast<const std::uint8_t*>(zero) - bytes.data());
            keep(bytes.first(count), sink);
            close(sink);
            bytes = bytes.subspan(count + 1);
        }
    }

    // Hands on what is pending and is plain text so far: for a line that has been quiet a while.
    template <typename Sink>
    void show_pending_text(Sink& sink) {
        if (chunk_.size() == shown_ || !is_plain()) return;
        sink.on_text(text().substr(shown_));
        shown_ = chunk_.size();
    }

    // The line has ended. What was pending can be no frame: its delimiter is missing.
    template <typename Sink>
    void finish(Sink& sink) {
        counters_.cut_bytes += length_;
        if (length_ != 0 && is_plain()) {
            counters_.raw_bytes += length_;
            show_pending_text(sink);
        } else {
            hand_on(sink);
        }
        reset();
    }

    const LineCounters& counters() const { return counters_; }

private:
    std::string_view text() const {
        return {reinterpret_cast<const char*>(chunk_.data()), chunk_.size()};
    }
    bool is_plain() const { return plain_ && is_console_text(chunk_); }

    template <typename Sink>
    void keep(std::span<const std::uint8_t> bytes, Sink& sink) {
        length_ += bytes.size();
        while (!bytes.empty()) {
            const std::size_t room = wire::max_encoded_bytes - chunk_.size();
            const std::size_t count = bytes.size() < room ? bytes.size() : room;
            chunk_.insert(chunk_.end(), bytes.begin(), bytes.begin() + static_cast<long>(count));
            bytes = bytes.subspan(count);
            if (bytes.empty()) return;
            plain_ = is_plain();
            if (plain_) {
                show_pending_text(sink);
            } else {
                hand_on(sink);
            }
            chunk_.clear();
            shown_ = 0;
        }
    }

    template <typename Sink>
    void close(Sink& sink) {
        if (length_ == 0) {
            ++counters_.stray_zeros;
            return;
        }
        const bool plain = is_plain();
        if (plain || length_ > chunk_.size()) {
            ++counters_.corrupt_frames;
            if (plain) {
                counters_.raw_bytes += length_;
                show_pending_text(sink);
            } else {
                hand_on(sink);
            }
            return reset();
        }
        decoded_ = chunk_;
        if (const auto frame = wire::parse_frame(decoded_.data(), decoded_.size()); frame.ok) {
            ++counters_.frames;
            sink.on_frame(frame);
        } else {
            ++counters_.corrupt_frames;
            hand_on(sink);
        }
        reset();
    }
    template <typename Sink>
    void hand_on(Sink& sink) {
        const auto rest = std::span<const std::uint8_t>(chunk_).subspan(shown_);
        if (!rest.empty()) sink.on_corrupt(rest);
    }
    void reset() {
        chunk_.clear();
        length_ = 0;
        shown_ = 0;
        plain_ = true;
    }

    std::vector<std::uint8_t> chunk_;
    std::vector<std::uint8_t> decoded_;
    std::uint64_t length_ = 0;  // of the chunk, including what was not kept
    std::size_t shown_ = 0;     // bytes of chunk_ already handed on as text
    bool plain_ = true;         // false: too long, and not text
    LineCounters counters_;
};

}  // namespace nopscope
