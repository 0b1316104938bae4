// SPDX-License-Identifier: Apache-2.0
// Collects bytes from the host into command frames with a correct CRC. It has memory for one frame.
// Longer or invalid frames are dropped, and the caller counts them.
#pragma once

#include "tracer/protocol/command.hpp"

namespace nopscope {

class CommandReceiver {
public:
    enum class Got : std::uint8_t { nothing, frame, corrupt };

    // Takes one byte. Got::frame: frame() is valid until the next byte.
    Got push(protocol::Byte byte) {
        if (byte != 0) {
            if (count_ < sizeof bytes_) bytes_[count_] = byte;
            if (count_ <= sizeof bytes_) ++count_;  // size + 1: too long
            return Got::nothing;
        }
        const std::size_t count = count_;
        count_ = 0;
        if (count == 0) return Got::nothing;
        if (count > sizeof bytes_) return Got::corrupt;
        frame_ = protocol::parse_frame(bytes_, count);
        return frame_.ok ? Got::frame : Got::corrupt;
    }
    const protocol::ParsedFrame& frame() const { return frame_; }

private:
    std::size_t count_ = 0;
    protocol::ParsedFrame frame_{};
    protocol::Byte bytes_[protocol::max_encoded_command_bytes]{};
};

}  // namespace nopscope
