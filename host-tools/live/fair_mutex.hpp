// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

namespace nopscope::host {

// A waiting thread gets this mutex next, even if its holder locks it again at once. Without this,
// the thread that reads a fast line would keep out the threads that look at it.
class FairMutex {
public:
    void lock() {
        const std::lock_guard next(next_);
        held_.lock();
    }
    void unlock() { held_.unlock(); }

private:
    std::mutex next_;
    std::mutex held_;
};

}  // namespace nopscope::host
