// SPDX-License-Identifier: Apache-2.0
// Says what is wrong with a line that has no session yet, and finds a serial port's rate.
//
// A board announces its rate (line/stream/boot_lines.hpp), and the port is set to it at once. If
// a port may try rates (Source::may_try_rates) and receives bytes but no frame, a search begins,
// also within a session. The port keeps the rate at which a frame came.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host-tools/line/stream/boot_lines.hpp"
#include "host-tools/line/stream/diagnosis.hpp"
#include "host-tools/line/transport/source.hpp"

namespace nopscope::host {

// Listens at the common rates, one after another, for a frame.
class BaudSearch {
public:
    using Clock = std::chrono::steady_clock;

    // Tries `likely` rates first. The destructor restores the line's rate, but not after stay().
    BaudSearch(Source& line, const std::vector<std::uint32_t>& likely);
    ~BaudSearch();
    BaudSearch(const BaudSearch&) = delete;
    BaudSearch& operator=(const BaudSearch&) = delete;

    // Reads for at most `timeout`. Throws Error.
    Source::Result listen(std::chrono::milliseconds timeout);
    bool is_over() const { return found_ || next_ > bauds_.size(); }
    // The rate at which a frame came, or that a board announced.
    std::optional<std::uint32_t> found() const { return found_; }
    // The bytes that came at this rate so far, or with the announcement.
    std::span<const std::uint8_t> heard() const { return heard_; }
    void stay() { stays_ = true; }

private:
    void try_next();

    Source& line_;
    const std::uint32_t before_;
    std::vector<std::uint32_t> bauds_;
    std::size_t next_ = 0;  // index of the rate to try after the current one
    Clock::time_point until_{};
    std::unique_ptr<SessionReader> reader_;
    BootLines boot_;
    std::optional<std::uint32_t> found_;
    std::vector<std::uint8_t> heard_;
    bool stays_ = false;
    std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(std::size_t{1} << 14);
};

class Listening {
public:
    using Clock = std::chrono::steady_clock;
    // A target sends a hello each second.
    static constexpr std::chrono::milliseconds patience{2800};

    explicit Listening(Source& line) : line_(line), first_baud_(line.baud()) {}

    // Reads at another rate while a search runs; returns nothing if none runs. The result has bytes
    // (in `to`) only if the search has found a rate that the port keeps.
    std::optional<Source::Result> search(std::span<std::uint8_t> to,
                                         std::chrono::milliseconds timeout);
    // True once after this class has changed the port's rate. Call it before you feed the reader
    // the bytes that came with the change.
    bool take_change() { return std::exchange(has_changed_, false); }
    // Sets a port to the rate that `bytes` announce. Returns how many came before the change, or 0.
    std::size_t follow(std::span<const std::uint8_t> bytes, const SessionReader& reader);
    // Call it after the bytes were fed to the reader.
    void take(std::span<const std::uint8_t> bytes, const SessionReader& reader,
              Clock::time_point now);
    // The line was lost and is open again.
    void restart(Clock::time_point now);

    // If no session was heard within `patience`: a sentence, once for each kind of fault.
    std::optional<std::string> complaint(const SessionReader& reader, Clock::time_point now);
    // The diagnosis so far.
    Diagnosis diagnosis(const SessionReader& reader, Clock::time_point now) const;
    bool searches() const { return search_ != nullptr; }

private:
    static constexpr std::size_t most_bytes = std::size_t{1} << 14;
    // Fewer bytes may be noise. A search could miss a target that begins to send.
    static constexpr std::size_t fewest_bytes_to_search = 200;
    // The port may stay at the right rate, so a needless search costs little.
    static constexpr std::size_t fewest_bytes_to_follow = 16;
    static constexpr std::chrono::milliseconds patience_to_follow{1300};

    bool change_to(std::uint32_t announced);
    void begin_search(const SessionReader& reader, Clock::time_point now);
    std::vector<std::uint32_t> known_bauds() const;
    void take_found();
    Diagnosis::Kind kind(const ByteChange& changed) const;
    Diagnosis judge(const SessionReader& reader, Clock::time_point now, ByteChange changed) const;

    Source& line_;
    Clock::time_point begin_ = Clock::now();
    std::vector<std::uint8_t> first_bytes_;  // since the last frame, if the port may try rates
    std::size_t judged_bytes_ = 0;           // of these, when `changed_` was looked for
    ByteChange changed_;                     // of these
    std::uint64_t frames_ = 0;
    BootLines boot_;
    const std::uint32_t first_baud_;
    std::optional<std::uint32_t> announced_baud_;
    bool has_changed_ = false;
    std::uint32_t baud_ = 0;
    std::unique_ptr<BaudSearch> search_;
    bool has_searched_ = false;
    bool is_heard_ = false;           // a session was heard
    std::optional<Diagnosis> found_;  // by the search
    bool found_is_told_ = false;
    std::optional<Diagnosis::Kind> told_;
};

}  // namespace nopscope::host
