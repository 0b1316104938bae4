// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/serve/connection.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace nopscope::host {
namespace {

// The page needs none of these, and each can turn a small request into a large one.
constexpr const char* unwanted[] = {
    "\nrange:", "\ntransfer-encoding:", "\ncontent-encoding:", "\nexpect:"};

}  // namespace

bool Connection::wait(short events, Clock::time_point until) const {
    while (!stop_.load(std::memory_order_relaxed)) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
        if (left <= 0) return false;
        pollfd one{.fd = socket_, .events = events, .revents = 0};
        const int ready = poll(&one, 1, static_cast<int>(std::min<long>(left, 100)));
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return false;
    }
    return false;
}

bool Connection::refuse(const char* status, const char* sentence) {
    const std::string response = fmt::format(
        "HTTP/1.1 {}\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: "
        "{}\r\n\r\n{}",
        status, std::strlen(sentence), sentence);
    write(response.data(), response.size());
    return false;
}

bool Connection::read_head() {
    const auto until = Clock::now() + patience;
    std::size_t end = std::string::npos;
    while (end == std::string::npos) {
        if (head_.size() >= max_head_bytes)
            return refuse("431 Request Header Fields Too Large", "too long a head");
        if (!wait(POLLIN, until)) return false;
        char bytes[2048];
        const ssize_t count =
            recv(socket_, bytes, std::min(sizeof bytes, max_head_bytes - head_.size()), 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        head_.append(bytes, static_cast<std::size_t>(count));
        end = head_.find("\r\n\r\n");
    }
    std::string lower = head_.substr(0, end);
    // httplib passes values on as C strings: "Host: 127.0.0.1\0.evil.example" would pass.
    if (lower.find('\0') != std::string::npos)
        return refuse("400 Bad Request", "a head has no NUL");
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    for (const char* name : unwanted) {
        if (lower.find(name) != std::string::npos)
            return refuse("400 Bad Request", "no such requests here");
    }
    const std::size_t came = head_.size() - (end + 4);
    body_room_ = max_body_bytes - std::min(max_body_bytes, came);
    body_until_ = Clock::now() + patience;
    return true;
}

bool Connection::is_readable() const {
    return taken_ < head_.size() || (body_room_ > 0 && wait(POLLIN, Clock::now()));
}

bool Connection::is_writable() const { return wait(POLLOUT, Clock::now() + patience); }

ssize_t Connection::read(char* to, std::size_t size) {
    if (taken_ < head_.size()) {
        const std::size_t count = head_.copy(to, size, taken_);
        taken_ += count;
        return static_cast<ssize_t>(count);
    }
    if (body_room_ == 0 || !wait(POLLIN, body_until_)) return -1;
    const ssize_t count = recv(socket_, to, std::min(size, body_room_), 0);
    if (count > 0) body_room_ -= static_cast<std::size_t>(count);
    return count;
}

ssize_t Connection::write(const char* bytes, std::size_t size) {
    const auto until = Clock::now() + patience;
    for (std::size_t sent = 0; sent < size;) {
        if (!wait(POLLOUT, until)) return -1;
        const ssize_t count = send(socket_, bytes + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && errno != EINTR && errno != EAGAIN) return -1;
        if (count > 0) sent += static_cast<std::size_t>(count);
    }
    return static_cast<ssize_t>(size);
}

// No part of the server uses addresses.
void Connection::get_remote_ip_and_port(std::string&, int&) const {}
void Connection::get_local_ip_and_port(std::string&, int&) const {}

}  // namespace nopscope::host
