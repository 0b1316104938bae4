// SPDX-License-Identifier: Apache-2.0
// The source of a line's bytes: one class for each kind of URI (docs/cli.md).
#pragma once

#include <sys/un.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

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
    // Waits until all bytes are taken, at most 2 s. Throws Error, also if the line only receives.
    virtual void write(std::span<const std::uint8_t> bytes);
    // Sets the line's rate in both directions. Throws Error. A line without a rate has 0.
    virtual void set_baud(std::uint32_t /*baud*/) {}
    virtual std::uint32_t baud() const { return 0; }
    // The same without waiting for written bytes: the other side changes its rate now.
    virtual void follow_baud(std::uint32_t baud) { set_baud(baud); }
    // True if no person named the rate, so that others may be tried.
    virtual bool may_try_rates() const { return false; }
    // Other programs that have the line open, if this user may see them: "cat (4711)".
    virtual std::string others() const { return {}; }
    // The text that the command behind exec: has written to its standard error since the last call,
    // with Errors::kept; else empty. These bytes come from outside.
    virtual std::string take_errors() { return {}; }
    // Closes the line. Returns the exit status of exec:'s command if it ended by itself (128 +
    // signal if a signal killed it), else nothing. Idempotent.
    virtual std::optional<int> close() { return std::nullopt; }
};

// Whether the host also writes. The command behind exec: has a standard input only then.
enum class Way : std::uint8_t { in, both };

// Standard error of the command behind exec: goes to this process's, or is kept for take_errors().
enum class Errors : std::uint8_t { passed_on, kept };

// Throws Error, one sentence. The code is Exit::usage for a malformed URI, or if `way` asks for
// writing and the line only receives.
std::unique_ptr<Source> open_source(const std::string& uri, Way way = Way::in,
                                    Errors errors = Errors::passed_on);

// open_source() chooses one of these. `is_asked`: a person named the rate.
std::unique_ptr<Source> open_serial(const std::string& path, std::uint32_t baud, bool is_asked);
std::unique_ptr<Source> open_tcp(const std::string& host, const std::string& port);
std::unique_ptr<Source> open_unix(const std::string& path);
sockaddr_un unix_address(const std::string& path);  // throws Error, Exit::usage
std::unique_ptr<Source> open_exec(const std::string& command, Way way, Errors errors);

// read() and write() of all sources. `descriptor` may be of any kind.
Source::Result read_descriptor(int descriptor, const std::string& name, std::span<std::uint8_t> to,
                               std::chrono::milliseconds timeout);
void write_descriptor(int descriptor, const std::string& name, std::span<const std::uint8_t> bytes);

// A file descriptor. Closes it, except standard input.
class DescriptorSource : public Source {
public:
    DescriptorSource(int descriptor, std::string name)
        : descriptor_(descriptor), name_(std::move(name)) {}
    ~DescriptorSource() override { DescriptorSource::close(); }
    Result read(std::span<std::uint8_t> to, std::chrono::milliseconds timeout) override {
        return read_descriptor(descriptor_, name_, to, timeout);
    }
    void write(std::span<const std::uint8_t> bytes) override {
        write_descriptor(descriptor_, name_, bytes);
    }
    std::optional<int> close() override;

protected:
    int descriptor_;
    std::string name_;
};

}  // namespace nopscope::host
