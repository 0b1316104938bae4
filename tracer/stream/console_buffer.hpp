// SPDX-License-Identifier: Apache-2.0
// A buffer for console text. Any context of any core writes, the pump reads, both under
// Pump::with_console(), which masks interrupts and takes a lock.
#pragma once

#include "tracer/protocol/bytes.hpp"

#include <array>

namespace nopscope {

class ConsoleBuffer {
public:
    // Copies as many of the `count` bytes as there is room for. Returns how many.
    std::size_t put(const char* bytes, std::size_t count) {
        std::size_t taken = 0;
        for (; taken < count && head_ - tail_ < bytes_.size(); ++taken) {
            bytes_[head_++ % bytes_.size()] = static_cast<protocol::Byte>(bytes[taken]);
        }
        return taken;
    }
    std::size_t get(protocol::Byte* to, std::size_t room) {
        std::size_t given = 0;
        for (; given < room && tail_ != head_; ++given) to[given] = bytes_[tail_++ % bytes_.size()];
        return given;
    }
    bool empty() const { return head_ == tail_; }

private:
    std::array<protocol::Byte, 2048> bytes_{};
    std::size_t head_ = 0;
    std::size_t tail_ = 0;
};

}  // namespace nopscope
