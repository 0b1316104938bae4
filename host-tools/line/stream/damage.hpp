// SPDX-License-Identifier: Apache-2.0
// What happened to a line's bytes on their way, told from the chunks that are no frames.
//
// Terminals, telnet servers and programs that copy text translate, double, or swallow some bytes.
// change() undoes each change that it knows on a damaged chunk: if the chunk is a frame then, that
// is what happened. What cannot be undone, as a lost eighth bit, shows in all bytes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host-tools/line/stream/session.hpp"

namespace nopscope::host {

struct ByteChange {
    std::string what;  // "CR (0x0d) came as LF (0x0a)"; empty: not known
    std::string fix;
    bool is_proven = false;  // a frame was restored

    void add(const char* one, const char* its_fix);
    std::string sentence() const { return what + ": " + fix; }
};

class DamagedChunks final : public SessionSink {
public:
    // Bytes between two delimiters, and no frame.
    void on_corrupt(std::span<const std::uint8_t> chunk) override;
    // `has_frames`: some chunks of the line were frames.
    ByteChange change(bool has_frames) const;
    // Of a line, for a person. What no change explains is a loss, and `others` (Source::others())
    // may be why. Empty: nothing is damaged.
    std::string sentence(const LineCounters& line, const StreamCounters& stream,
                         const std::string& others = {}) const;

private:
    // The shortest ones: they have the fewest changes.
    class Shortest {
    public:
        void keep(std::vector<std::uint8_t> chunk);
        auto begin() const { return chunks_.begin(); }
        auto end() const { return chunks_.end(); }

    private:
        std::vector<std::vector<std::uint8_t>> chunks_;
    };

    ByteChange proven() const;
    ByteChange likely(bool has_frames) const;

    Shortest chunks_;
    // A telnet server's CR comes with a zero byte behind, which cuts a frame: the parts so far, and
    // what they may make.
    std::vector<std::uint8_t> parts_;
    Shortest joined_;
    std::array<std::uint64_t, 256> counts_{};
    std::uint64_t bytes_ = 0;
    std::uint64_t odd_ = 0;       // bytes with an odd number of ones
    std::uint64_t replaced_ = 0;  // U+FFFD in UTF-8
};

// The same of a line's first bytes, with the delimiters, if no frame is among them.
ByteChange change_of(std::span<const std::uint8_t> line);

// "cat (4711) has the line open, too: end it". `others`: Source::others().
std::string others_sentence(const std::string& others);

}  // namespace nopscope::host
