// SPDX-License-Identifier: Apache-2.0
// A file of Perfetto's TracePackets. Packets are collected in blocks. Each block is deflated into a
// packet of its own (`compressed_packets`), so a file is a tenth of the size. In a file that is
// compressed as a whole, they stay as they are.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "host-tools/base/output.hpp"
#include "host-tools/views/export/proto.hpp"

namespace nopscope::host {

class PacketFile {
public:
    explicit PacketFile(const Output& output)
        : file_(output), is_bare_(output.is_gzipped()), block_(block_bytes + sizeof Begin::bytes) {}

    // The begin of a packet's content: `size` bytes. All of it is copied, which takes no call.
    struct Begin {
        char bytes[48];
        std::size_t size = 0;
    };
    void add(const Begin& begin, std::string_view more, std::string_view last) {
        const std::size_t bytes = begin.size + more.size() + last.size();
        const std::size_t room = most_head + sizeof begin.bytes + bytes;
        if (block_.size() - used_ < room) [[unlikely]]
            make_room(room);
        char* to = block_.data() + used_;
        *to++ = packet_tag;
        to = put_varint(to, bytes);
        std::memcpy(to, begin.bytes, sizeof begin.bytes);
        to = std::copy(more.begin(), more.end(), to + begin.size);
        to = std::copy(last.begin(), last.end(), to);
        used_ = static_cast<std::size_t>(to - block_.data());
    }
    void close();

private:
    // Perfetto wants less than 512 KB for each block after compression.
    static constexpr std::size_t block_bytes = std::size_t{1} << 18;
    static constexpr char packet_tag = 1 << 3 | 2;
    static constexpr std::size_t most_head = 11;  // of a packet: its tag and its size
    void make_room(std::size_t bytes);
    void write_block();

    FileWriter file_;
    bool is_bare_;
    std::vector<char> block_;
    std::size_t used_ = 0;  // bytes of block_
    std::string packed_;
};

}  // namespace nopscope::host
