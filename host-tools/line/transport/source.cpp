// SPDX-License-Identifier: Apache-2.0
#include "host-tools/line/transport/source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"

namespace nopscope::host {
namespace {

bool take_prefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

std::unique_ptr<Source> serial_from(std::string_view rest, const std::string& uri) {
    std::uint32_t baud = 115200;
    const std::size_t question = rest.find('?');
    const std::string path(rest.substr(0, question));
    if (question != std::string_view::npos) {
        std::string_view option = rest.substr(question + 1);
        const bool is_baud = take_prefix(option, "baud=");
        const auto [end, error] = std::from_chars(option.begin(), option.end(), baud);
        if (!is_baud || error != std::errc() || end != option.end() || baud == 0) {
            throw Error(uri + ": expected serial:PATH?baud=NUMBER", Exit::usage);
        }
    }
    return open_serial(path, baud, question != std::string_view::npos);
}

std::unique_ptr<Source> tcp_from(std::string_view rest, const std::string& uri) {
    const std::size_t colon = rest.rfind(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == rest.size()) {
        throw Error(uri + ": expected tcp:HOST:PORT", Exit::usage);
    }
    std::string_view host = rest.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    return open_tcp(std::string(host), std::string(rest.substr(colon + 1)));
}

// `path` "-": standard input.
std::unique_ptr<Source> open_file(const std::string& path) {
    if (path == "-") return std::make_unique<DescriptorSource>(STDIN_FILENO, "standard input");
    const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) throw Error("cannot open " + path + ": " + system_error(errno));
    return std::make_unique<DescriptorSource>(descriptor, path);
}

}  // namespace

Source::Result read_descriptor(int descriptor, const std::string& name, std::span<std::uint8_t> to,
                               std::chrono::milliseconds timeout) {
    pollfd waiting{descriptor, POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(timeout.count()));
    if (ready == 0 || (ready < 0 && errno == EINTR)) return {};
    if (ready < 0) throw Error("cannot wait for " + name + ": " + system_error(errno));
    const ssize_t count = ::read(descriptor, to.data(), to.size());
    if (count > 0) return {static_cast<std::size_t>(count), false};
    if (count == 0) return {0, true};
    switch (errno) {
    case EINTR:
    case EAGAIN: return {};
    // The other side of a pseudo-terminal closed, an adapter was unplugged, or a peer was killed.
    case EIO:
    case ENXIO:
    case ECONNRESET: return {0, true};
    default: throw Error("cannot read " + name + ": " + system_error(errno));
    }
}

void write_descriptor(int descriptor, const std::string& name,
                      std::span<const std::uint8_t> bytes) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (!bytes.empty()) {
        pollfd waiting{descriptor, POLLOUT, 0};
        const int ready = poll(&waiting, 1, 100);
        if (ready < 0 && errno != EINTR) {
            throw Error("cannot wait for " + name + ": " + system_error(errno));
        }
        const ssize_t count = ready > 0 ? ::write(descriptor, bytes.data(), bytes.size()) : 0;
        if (count < 0 && errno != EINTR && errno != EAGAIN) {
            throw Error("cannot write to " + name + ": " + system_error(errno));
        }
        if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
        if (!bytes.empty() && std::chrono::steady_clock::now() > end) {
            throw Error(name + " takes no bytes: is its other side there?");
        }
    }
}

void Source::write(std::span<const std::uint8_t>) {
    throw Error("commands cannot be sent on this line: it goes one way", Exit::usage);
}

std::optional<int> DescriptorSource::close() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
    descriptor_ = -1;
    return std::nullopt;
}

std::unique_ptr<Source> open_source(const std::string& uri, Way way, Errors errors) {
    std::string_view rest = uri;
    if (way == Way::both && (rest == "-" || rest.starts_with("file:"))) {
        throw Error(uri + ": commands cannot be sent there: take serial:, tcp:, unix: or exec:",
                    Exit::usage);
    }
    if (rest == "-") return open_file("-");
    if (take_prefix(rest, "serial:")) return serial_from(rest, uri);
    if (take_prefix(rest, "tcp:")) return tcp_from(rest, uri);
    if (take_prefix(rest, "unix:")) return open_unix(std::string(rest));
    if (take_prefix(rest, "exec:")) return open_exec(std::string(rest), way, errors);
    if (take_prefix(rest, "file:")) return open_file(std::string(rest));
    if (rest.starts_with("/dev/")) {
        throw Error(
            fmt::format(
                "{} is no URI: for a serial port give serial:{}, or serial:{}?baud=N with its rate",
                uri, uri, uri),
            Exit::usage);
    }
    if (std::error_code error; std::filesystem::exists(uri, error)) {
        throw Error(fmt::format("{} is no URI: for a file give file:{}", uri, uri), Exit::usage);
    }
    throw Error(uri + ": expected serial:, tcp:, unix:, exec:, file: or -", Exit::usage);
}

}  // namespace nopscope::host
