// SPDX-License-Identifier: Apache-2.0
// What is wrong with a line until its first session, and at which rate of a serial port frames
// come.
//
// A board announces its rate (target/stream/boot_lines.hpp), and the port is set to it at once. If a port
// may try rates (Source::may_try_rates) and brings bytes but no frame, the search for one begins,
// also within a session, and the port stays at the rate at which a frame came.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host-tools/target/stream/boot_lines.hpp"
#include "host-tools/target/stream/diagnosis.hpp"
#include "host-tools/target/transport/source.hpp"

namespace nopscope::host {

// Listens at the common rates, one after another, for a frame.
class BaudSearch {
public:
    using Clock = std::chrono::steady_clock;

    // `likely` rates come first. The line goes back to its rate when this is gone, unless stay().
    BaudSearch(Source& line, const std::vector<std::uint32_t>& likely);
    ~BaudSearch();
    BaudSearch(const BaudSearch&) = delete;
    BaudSearch& operator=(const BaudSearch&) = delete;

    // Reads for `timeout` at most. Throws Error.
    Source::Result listen(std::chrono::milliseconds timeout);
    bool is_over() const { return found_ || next_ > bauds_.size(); }
    // The rate at which a frame came, or that a board has announced.
    std::optional<std::uint32_t> found() const { return found_; }
    // The bytes that came at this rate so far, or with the announcement.
    std::span<const std::uint8_t> heard() const { return heard_; }
    void stay() { stays_ = true; }

private:
    void try_next();

    Source& line_;
    const std::uint32_t before_;
    std::vector<std::uint32_t> bauds_;
    std::size_t next_ = 0;  // the one after the one that is tried
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

    // Reads another rate of the line, when it is time for that. Nothing: it is not. The result has
    // no bytes, except in `to` those of a rate at which the port stays.
    std::optional<Source::Result> search(std::span<std::uint8_t> to,
                                         std::chrono::milliseconds timeout);
    // True once after each change of the port's rate by this class; before the bytes that came with
    // the change are fed to the reader.
    bool take_change() { return std::exchange(has_changed_, false); }
    // Of a port: sets it to a rate that these bytes announce. Returns how many of them came before
    // the change; 0: there was none.
    std::size_t follow(std::span<const std::uint8_t> bytes, const SessionReader& reader);
    // After the bytes were fed to the reader.
    void take(std::span<const std::uint8_t> bytes, const SessionReader& reader,
              Clock::time_point now);
    // The line was lost, and is new.
    void restart(Clock::time_point now);

    // A sentence, once for each kind of fault, if no session was heard in `patience`.
    std::optional<std::string> complaint(const SessionReader& reader, Clock::time_point now);
    // What is known by now.
    Diagnosis diagnosis(const SessionReader& reader, Clock::time_point now) const;
    // It reads at another rate now.
    bool searches() const { return search_ != nullptr; }

private:
    static constexpr std::size_t most_bytes = std::size_t{1} << 14;
    // Fewer are a disturbance: another rate is not worth missing a target that begins to send.
    static constexpr std::size_t fewest_bytes_to_search = 200;
    // If the port then stays at the right rate, little is missed.
    static constexpr std::size_t fewest_bytes_to_follow = 16;
    static constexpr std::chrono::milliseconds patience_to_follow{1300};

    bool change_to(std::uint32_t announced);
    void begin_search(const SessionReader& reader, Clock::time_point now);
    std::vector<std::uint32_t> known_bauds() const;
    void take_found();
    Diagnosis::Kind kind() const;

    Source& line_;
    Clock::time_point begin_ = Clock::now();
    std::vector<std::uint8_t> first_bytes_;  // of a port that may try rates: since the last frame
    std::uint64_t frames_ = 0;
    BootLines boot_;
    const std::uint32_t first_baud_;
    std::optional<std::uint32_t> announced_baud_;
    bool has_changed_ = false;
    std::uint32_t baud_ = 0;
    std::unique_ptr<BaudSearch> search_;
    bool has_searched_ = false;
    bool is_heard_ = false;           // a session was
    std::optional<Diagnosis> found_;  // by the search
    bool found_is_told_ = false;
    std::optional<Diagnosis::Kind> told_;
};

}  // namespace nopscope::host
