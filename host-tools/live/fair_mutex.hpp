// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

namespace nopscope::host {

// Who waits for it gets it next, however soon its holder wants it again: a thread that reads a fast line all
// the time must not keep out those that look at it.
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
