// SPDX-License-Identifier: Apache-2.0
// Replies to commands. control.hpp makes them, pump.hpp sends them, one at a time. The last few are
// kept, because a host that has missed a reply sends its command again.
#pragma once

#include "tracer/protocol/command.hpp"

namespace nopscope {

class Replies {
public:
    struct Reply {
        bool is_kept = false;
        std::uint32_t number = 0;  // of the command
        std::uint32_t crc = 0;     // of the command's payload
        std::size_t size = 0;      // bytes of payload
        protocol::Byte payload[protocol::reply_head_bytes + protocol::max_result_bytes]{};

        protocol::Byte* result() { return payload + protocol::reply_head_bytes; }
    };

    // ---- for control.hpp: one context at a time, and only while no reply waits ----

    // Returns the reply to this command; null: it is not kept.
    Reply* find(std::uint32_t number) {
        for (Reply& one : replies_) {
            if (one.is_kept && one.number == number) return &one;
        }
        return nullptr;
    }
    // Returns room for the reply to the next command. It replaces the oldest reply.
    Reply& next() { return replies_[next_++ % kept]; }
    // Returns room for a reply that is not kept.
    Reply& passing() { return replies_[kept]; }

    // Sends `reply`: one of those above, with its number and its result written.
    void post(Reply& reply, protocol::Command what, protocol::Answer answer,
              std::size_t result_bytes = 0) {
        protocol::Writer out(reply.payload);
        out.fixed(reply.number);
        out.fixed(static_cast<std::uint8_t>(what));
        out.fixed(static_cast<std::uint8_t>(answer));
        reply.size = protocol::reply_head_bytes + result_bytes;
        reply.is_kept = &reply != &passing();
        repeat(reply);
    }
    void repeat(Reply& reply) { __atomic_store_n(&waiting_, &reply, __ATOMIC_RELEASE); }

    void count_refused() { __atomic_fetch_add(&refused_, 1, __ATOMIC_RELAXED); }
    std::uint64_t refused() const { return __atomic_load_n(&refused_, __ATOMIC_RELAXED); }

    // true: the pump sends the waiting reply, and then nothing until hold_line(false).
    void hold_line(bool hold) { __atomic_store_n(&holds_, hold, __ATOMIC_RELEASE); }

    // ---- for the pump ----

    bool wait() const { return __atomic_load_n(&waiting_, __ATOMIC_ACQUIRE) != nullptr; }
    bool hold() const { return __atomic_load_n(&holds_, __ATOMIC_ACQUIRE); }
    // Takes the waiting reply. Returns the payload's size in bytes.
    std::size_t take(protocol::Byte* payload) {
        const Reply& reply = *__atomic_load_n(&waiting_, __ATOMIC_ACQUIRE);
        const std::size_t size = reply.size;
        protocol::Writer(payload).bytes(reply.payload, size);
        __atomic_store_n(&waiting_, nullptr, __ATOMIC_RELEASE);
        return size;
    }

private:
    static constexpr unsigned kept = 4;

    Reply replies_[kept + 1]{};
    Reply* waiting_ = nullptr;
    std::uint64_t refused_ = 0;
    unsigned next_ = 0;
    bool holds_ = false;
};

}  // namespace nopscope
