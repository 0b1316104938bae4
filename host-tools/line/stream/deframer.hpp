// SPDX-License-Identifier: Apache-2.0
// Bytes from the line -> chunks between zero bytes -> frames whose CRC holds.
//
// All other bytes are counted, never interpreted. The deframer keeps one chunk in memory. It passes
// on a chunk longer than the longest frame in pieces. A chunk of plain text (a panic before init)
// counts as one corrupt frame, and its text is passed on.
//
// Bytes before a boot's first frame are no damage; lead_bytes counts them. They are a boot loader's
// text, boot lines (boot_lines.hpp, also recognised between frames), the end of a frame, or bytes
// that were sent at another rate. After a change of rate, all bytes between two sessions are such a
// lead, because a reset target begins at its first rate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "host-tools/base/text.hpp"
#include "tracer/protocol/frame.hpp"

namespace nopscope::host {

struct LineCounters {
    std::uint64_t bytes = 0;
    std::uint64_t frames = 0;
    std::uint64_t corrupt_frames = 0;  // chunks that are not frames
    std::uint64_t raw_bytes = 0;       // bytes of those chunks that are plain text
    std::uint64_t stray_zeros = 0;     // delimiters with nothing before them
    std::uint64_t cut_bytes = 0;       // after the last delimiter, at the end
    std::uint64_t lead_bytes = 0;      // before a boot's first frame, other than delimiters

    bool operator==(const LineCounters&) const = default;
};

// In the order of a recording's file: append new fields.
inline constexpr std::uint64_t LineCounters::*line_fields[] = {
    &LineCounters::bytes,      &LineCounters::frames,      &LineCounters::corrupt_frames,
    &LineCounters::raw_bytes,  &LineCounters::stray_zeros, &LineCounters::cut_bytes,
    &LineCounters::lead_bytes,
};
static_assert(sizeof(LineCounters) == std::size(line_fields) * sizeof(std::uint64_t));

class Deframer {
public:
    Deframer() { chunk_.reserve(protocol::max_encoded_bytes); }

    // Sink: on_frame(const protocol::ParsedFrame&), on_text(std::string_view), and for all other
    // bytes, unchanged, on_corrupt(std::span<const std::uint8_t>).
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

    // On a silent line: passes on the pending bytes if they are plain text so far.
    template <typename Sink>
    void show_pending_text(Sink& sink) {
        if (chunk_.size() == shown_ || !is_plain()) return;
        sink.on_text(text().substr(shown_));
        shown_ = chunk_.size();
    }

    // The line's rate changes here: the next bytes are a new chunk, which may begin within a frame.
    template <typename Sink>
    void change_rate(Sink& sink) {
        counters_.lead_bytes += length_;
        show_pending_text(sink);
        hand_on(sink);
        reset();
        is_tail_ = true;
        rate_changes_ = true;
    }

    // The line has ended. The pending bytes are no frame, because their delimiter is missing.
    template <typename Sink>
    void finish(Sink& sink) {
        count(unsettled_);
        unsettled_ = {};
        if (length_ != 0 && (is_boot_ || boot_at() == 0) && is_plain()) {
            counters_.lead_bytes += length_;
            show_pending_text(sink);
            return reset();
        }
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
    std::size_t boot_at() const { return text().find("boot: nopscope "); }

    template <typename Sink>
    void keep(std::span<const std::uint8_t> bytes, Sink& sink) {
        length_ += bytes.size();
        while (!bytes.empty()) {
            const std::size_t room = protocol::max_encoded_bytes - chunk_.size();
            const std::size_t count = bytes.size() < room ? bytes.size() : room;
            chunk_.insert(chunk_.end(), bytes.begin(), bytes.begin() + static_cast<long>(count));
            bytes = bytes.subspan(count);
            if (bytes.empty()) return;
            plain_ = is_plain();
            is_boot_ = plain_ && (is_boot_ || boot_at() == 0);  // for the next pieces
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
        if (is_plain() || length_ > chunk_.size()) return close_without_frame(sink);
        decoded_ = chunk_;
        const auto frame = protocol::parse_frame(decoded_.data(), decoded_.size());
        if (!frame.ok) return close_without_frame(sink);
        ++counters_.frames;
        settle(frame.header.session);
        sink.on_frame(frame);
        reset();
        is_tail_ = false;
    }

    template <typename Sink>
    void close_without_frame(Sink& sink) {
        const bool is_lead = counters_.frames == 0 || is_tail_;
        const bool plain = is_plain();
        const std::size_t boot = std::min(is_boot_ ? 0 : boot_at(), chunk_.size());
        const bool has_boot =
            (is_boot_ || boot != chunk_.size()) && is_console_text(std::span(chunk_).subspan(boot));
        std::uint64_t other = length_;  // bytes that are not boot text
        if (has_boot) other = is_boot_ ? 0 : length_ - (chunk_.size() - boot);
        counters_.lead_bytes += length_ - other;
        if (is_lead) {
            counters_.lead_bytes += other;
        } else if (other != 0) {
            const LineCounters damage{
                .corrupt_frames = 1, .raw_bytes = plain ? other : 0, .lead_bytes = other};
            if (rate_changes_) {
                add(unsettled_, damage);
            } else {
                count(damage);
            }
        }
        if (has_boot && !plain && shown_ < boot) {
            sink.on_corrupt(std::span<const std::uint8_t>(chunk_).first(boot).subspan(shown_));
            shown_ = boot;
        }
        if (plain || has_boot) {
            if (shown_ < chunk_.size()) sink.on_text(text().substr(shown_));
        } else {
            hand_on(sink);
        }
        reset();
        is_tail_ = false;
    }

    // A frame came. If its session is that of the frame before, the bytes between them were damage.
    void settle(std::uint16_t session) {
        if (session == session_) {
            count(unsettled_);
        } else {
            counters_.lead_bytes += unsettled_.lead_bytes;
        }
        unsettled_ = {};
        session_ = session;
    }
    static void add(LineCounters& to, const LineCounters& more) {
        to.corrupt_frames += more.corrupt_frames;
        to.raw_bytes += more.raw_bytes;
        to.lead_bytes += more.lead_bytes;
    }
    void count(LineCounters damage) {
        damage.lead_bytes = 0;
        add(counters_, damage);
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
        is_boot_ = false;
    }

    std::vector<std::uint8_t> chunk_;
    std::vector<std::uint8_t> decoded_;
    std::uint64_t length_ = 0;  // of the chunk, with the pieces already passed on
    std::size_t shown_ = 0;     // bytes of chunk_ that were passed on as text
    bool plain_ = true;         // false: an earlier piece of the chunk was not text
    bool is_boot_ = false;      // earlier pieces of the chunk began with boot lines
    bool is_tail_ = false;      // the chunk may end a frame that began at another rate
    bool rate_changes_ = false;
    std::uint16_t session_ = 0;  // of the last frame
    LineCounters unsettled_;     // damage, unless the next frame is of another session
    LineCounters counters_;
};

}  // namespace nopscope::host
