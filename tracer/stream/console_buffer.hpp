// SPDX-License-Identifier: Apache-2.0
// A buffer for console text. Any context of any core writes, the pump reads. Both mask interrupts
// and hold a lock.
#pragma once

#include "tracer/core/ring.hpp"
#include "tracer/protocol/bytes.hpp"

#include <array>

namespace nopscope {

class ConsoleBuffer {
public:
    // Copies as many of the `count` bytes as there is room for. Returns how many.
    template <MachineConcept M>
    std::size_t put(M& machine, const char* bytes, std::size_t count) {
        const Locked locked(machine, locked_);
        std::size_t taken = 0;
        for (; taken < count && head_ - tail_ < bytes_.size(); ++taken) {
            bytes_[head_++ % bytes_.size()] = static_cast<protocol::Byte>(bytes[taken]);
        }
        return taken;
    }
    template <MachineConcept M>
    std::size_t get(M& machine, protocol::Byte* to, std::size_t room) {
        const Locked locked(machine, locked_);
        std::size_t given = 0;
        for (; given < room && tail_ != head_; ++given) to[given] = bytes_[tail_++ % bytes_.size()];
        return given;
    }
    bool empty() const { return head_ == tail_; }
    // For a panic: whoever holds the lock will not return.
    void break_lock() { locked_ = 0; }

private:
    std::array<protocol::Byte, 2048> bytes_{};
    std::size_t head_ = 0;
    std::size_t tail_ = 0;
    std::uint32_t locked_ = 0;
};

}  // namespace nopscope
