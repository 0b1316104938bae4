// SPDX-License-Identifier: Apache-2.0
// The line: sends one encoded frame at a time, at the pace of the real line.
//
// Credit grows with the clock at `bytes_per_second`, up to a burst; each byte costs one. So an
// emulated UART, which accepts bytes infinitely fast, behaves like a real one.
#pragma once

#include "nopscope/nopscope.hpp"
#include "tracer/arch/machine.hpp"
#include "tracer/protocol/frame.hpp"

namespace nopscope {

template <MachineConcept M>
class Line {
public:
    constexpr explicit Line(M& machine) : machine_(machine) {}

    void open(const Config::Output& output, std::uint32_t bytes_per_second,
              std::uint64_t clock_hz) {
        output_ = output;
        bytes_per_second_ = bytes_per_second;
        clock_hz_ = clock_hz;
        last_ = machine_.clock();
    }

    // Room for the next frame's encoding (protocol::max_encoded_bytes); only while idle().
    protocol::Byte* buffer() { return bytes_; }
    void queue(std::size_t count) {
        at_ = 0;
        count_ = count;
    }
    // Ends a frame that the previous boot began. Only while idle().
    void queue_delimiter() {
        bytes_[0] = 0;
        queue(1);
    }
    bool idle() const { return at_ == count_; }
    bool has_pace() const { return bytes_per_second_ != 0; }

    // True if the pace allows no more than `bytes` now.
    bool allows_only(std::uint64_t bytes) {
        earn();
        return has_pace() && credit_ < (bytes + 1) * clock_hz_;
    }
    // Sends what the pace and the transmitter allow, at most `bytes`. False: the pace or the
    // transmitter allows no more now.
    bool send(std::size_t bytes) {
        earn();
        const std::size_t end = count_ - at_ < bytes ? count_ : at_ + bytes;
        for (; at_ < end; ++at_) {
            if (has_pace() && credit_ < clock_hz_) return false;
            if (!output_.try_write(bytes_[at_])) return false;
            if (has_pace()) credit_ -= clock_hz_;
        }
        return true;
    }

    // In bytes a second; 0: no pace. Only while idle().
    void set_pace(std::uint32_t bytes_per_second) {
        bytes_per_second_ = bytes_per_second;
        credit_ = 0;
    }
    void unpace() { bytes_per_second_ = 0; }  // for a panic
    void drain() {
        if (output_.drain != nullptr) output_.drain();
    }

private:
    // A burst of 50 ms: a pump every 50 ms still uses the whole line.
    static constexpr std::uint64_t bursts_per_second = 20;

    void earn() {
        if (!has_pace()) return;
        const std::uint64_t now = machine_.clock();
        std::uint64_t ticks = now - last_;
        last_ = now;
        const std::uint64_t most = clock_hz_ / bursts_per_second;
        if (ticks > most) ticks = most;
        credit_ += ticks * bytes_per_second_;
        const std::uint64_t cap = most * bytes_per_second_;
        if (credit_ > cap) credit_ = cap;
    }

    M& machine_;
    Config::Output output_{};
    std::uint64_t bytes_per_second_ = 0;
    std::uint64_t clock_hz_ = 1;
    std::uint64_t last_ = 0;
    std::uint64_t credit_ = 0;  // bytes times clock_hz
    std::size_t at_ = 0;
    std::size_t count_ = 0;
    protocol::Byte bytes_[protocol::max_encoded_bytes]{};
};

}  // namespace nopscope
