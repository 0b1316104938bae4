// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <mutex>

namespace nopscope::host {

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
