// SPDX-License-Identifier: Apache-2.0
// Bytes from the host -> command frames whose CRC holds. Memory is one frame; what is longer, or no
// frame, is counted and left out.
#pragma once

#include "tracer/protocol/command.hpp"

namespace nopscope {

class CommandReceiver {
public:
    enum class Got : std::uint8_t { nothing, frame, corrupt };

    // One byte. `frame`: it is in frame() until the next byte.
    Got push(protocol::Byte byte) {
        if (byte != 0) {
            if (count_ < sizeof bytes_) bytes_[count_] = byte;
            if (count_ <= sizeof bytes_) ++count_;  // stays past the end: too long
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
