// SPDX-License-Identifier: Apache-2.0
// One request's bytes, for httplib. httplib alone would read a head of any length at any speed, and
// would answer overlapping ranges with a thousand copies. This class refuses such heads first.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

namespace nopscope::host {

class Connection final : public httplib::Stream {
public:
    static constexpr std::size_t max_head_bytes = 8192;
    static constexpr std::size_t max_body_bytes = std::size_t{1} << 16;
    static constexpr std::chrono::seconds patience{5};  // for a head, for a body, for a write

    // The caller owns `socket`. `stop` ends all waiting.
    Connection(int socket, const std::atomic<bool>& stop) : socket_(socket), stop_(stop) {}

    // Reads the request's head. Returns false if no acceptable head came; a due refusal was sent.
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
    std::string head_;           // with the bytes that came after it
    std::size_t taken_ = 0;      // bytes of head_ that read() has returned
    std::size_t body_room_ = 0;  // bytes that may still come
    Clock::time_point body_until_{};
};

// httplib's threads. When all are busy, enqueue() waits; further connections stay in the kernel.
class Workers final : public httplib::TaskQueue {
public:
    explicit Workers(std::size_t most) : most_(most), pool_(most) {}

    void enqueue(std::function<void()> task) override {
        {
            std::unique_lock lock(mutex_);
            free_.wait(lock, [&] { return busy_ < most_; });
            ++busy_;
        }
        pool_.enqueue([this, task = std::move(task)] {
            task();
            {
                const std::lock_guard lock(mutex_);
                --busy_;
            }
            free_.notify_one();
        });
    }
    void shutdown() override { pool_.shutdown(); }

private:
    const std::size_t most_;
    std::mutex mutex_;
    std::condition_variable free_;
    std::size_t busy_ = 0;
    httplib::ThreadPool pool_;
};

}  // namespace nopscope::host
