// SPDX-License-Identifier: Apache-2.0
// One request's bytes, for httplib: it would read a head of any length, from whoever takes any time over it,
// and answer ranges that overlap with a thousand copies. Such a head never reaches it.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <string>

namespace nopscope::host {

class Connection final : public httplib::Stream {
public:
    static constexpr std::size_t max_head_bytes = 8192;
    static constexpr std::size_t max_body_bytes = std::size_t{1} << 16;
    static constexpr std::chrono::seconds patience{5};  // for a head, for a body, for a write

    // `socket`'s owner is the caller. `stop`: ends all waiting.
    Connection(int socket, const std::atomic<bool>& stop) : socket_(socket), stop_(stop) {}

    // Reads the request's head. False: none came, whole, short and plain enough; what there is to say has been said.
    bool read_head();

    bool is_readable() const override;
    bool is_writable() const override;
    ssize_t read(char* to, std::size_t size) override;
    ssize_t write(const char* bytes, std::size_t size) override;  // all of it, or -1
    void get_remote_ip_and_port(std::string& ip, int& port) const override;
    void get_local_ip_and_port(std::string& ip, int& port) const override;
    socket_t socket() const override { return socket_; }

private:
    using Clock = std::chrono::steady_clock;

    bool wait(short events, Clock::time_point until) const;
    bool refuse(const char* status, const char* sentence);

    int socket_;
    const std::atomic<bool>& stop_;
    std::string head_;          // and what came with it
    std::size_t taken_ = 0;     // of that
    std::size_t body_room_ = 0;  // bytes that may still come
    Clock::time_point body_until_{};
};

}  // namespace nopscope::host
