// SPDX-License-Identifier: Apache-2.0
// Where a line's bytes come from: one class for each kind of URI (docs/cli.md).
#pragma once

#include <sys/un.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace nopscope::host {

class Source {
public:
    virtual ~Source() = default;
    Source() = default;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;

    struct Result {
        std::size_t count = 0;
        bool closed = false;  // no byte will ever come again
    };
    // Waits up to `timeout` for bytes; returns earlier when a signal comes. Throws Error.
    virtual Result read(std::span<std::uint8_t> to, std::chrono::milliseconds timeout) = 0;
    // Waits until all bytes are taken, two seconds at most. Throws Error: not taken, or a line that goes
    // one way only.
    virtual void write(std::span<const std::uint8_t> bytes);
    // A line that has a rate: sets it, both ways. Throws Error. Any other's is 0, and stays.
    virtual void set_baud(std::uint32_t /*baud*/) {}
    virtual std::uint32_t baud() const { return 0; }
    // The same at once, without waiting for what was written: the other side changes its rate now.
    virtual void follow_baud(std::uint32_t baud) { set_baud(baud); }
    // True: nobody has said which rate is right, so others may be tried.
    virtual bool may_try_rates() const { return false; }
    // What the command behind exec: has written to its standard error since the last call, if that
    // is kept (Errors::kept). Outside bytes. Any other line's is empty.
    virtual std::string take_errors() { return {}; }
    // Lets go of the line. The exit status of exec:'s command when it ended by itself (128 + signal
    // when one killed it); nothing in any other case. Idempotent.
    virtual std::optional<int> close() { return std::nullopt; }
};

// Whether a line is only listened to. The command behind exec: has standard input only if not.
enum class Way : std::uint8_t { in, both };

// Standard error of the command behind exec:: this process's, or kept for take_errors().
enum class Errors : std::uint8_t { passed_on, kept };

// Throws Error: one sentence, code Exit::usage for a URI that makes no sense, or for a line that cannot be
// written to where that is asked for.
std::unique_ptr<Source> open_source(const std::string& uri, Way way = Way::in,
                                    Errors errors = Errors::passed_on);

// The pieces open_source chooses from.
// `is_asked`: a person has named the rate.
std::unique_ptr<Source> open_serial(const std::string& path, std::uint32_t baud, bool is_asked);
std::unique_ptr<Source> open_tcp(const std::string& host, const std::string& port);
std::unique_ptr<Source> open_unix(const std::string& path);
sockaddr_un unix_address(const std::string& path);  // throws Error, Exit::usage
std::unique_ptr<Source> open_exec(const std::string& command, Way way, Errors errors);
std::unique_ptr<Source> open_file(const std::string& path);  // "-": standard input

// A source that is a file descriptor and no more: a socket. Closes it, except standard input.
std::unique_ptr<Source> descriptor_source(int descriptor, const std::string& name);

// What read() of every source does. `descriptor` may be of any kind.
Source::Result read_descriptor(int descriptor, const std::string& name, std::span<std::uint8_t> to,
                               std::chrono::milliseconds timeout);
void write_descriptor(int descriptor, const std::string& name, std::span<const std::uint8_t> bytes);

}  // namespace nopscope::host
