// SPDX-License-Identifier: Apache-2.0
// SEGGER RTT: byte rings in memory, which a debug probe reads and writes while the target runs. The probe finds
// the control block by its id. Layout: SEGGER's UM08001, "RTT control block"; addresses and offsets are
// 32 bits, so the block and its buffers lie below 4 GiB.
//
// The memory must not be cached: the probe does not look into caches.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nopscope::hal {

// One side writes `write`, the other `read`; they are equal when it is empty. Offsets into the buffer.
struct RttRing {
    std::uint32_t name;
    std::uint32_t buffer;
    std::uint32_t bytes;
    volatile std::uint32_t write;
    volatile std::uint32_t read;
    std::uint32_t flags;  // 0: what has no room is the writer's to leave out
};

template <std::uint32_t up_bytes, std::uint32_t down_bytes>
struct RttBlock {
    volatile char id[16];
    std::int32_t up_count;
    std::int32_t down_count;
    RttRing up;
    RttRing down;
    char name[16];
    volatile std::uint8_t up_buffer[up_bytes];
    volatile std::uint8_t down_buffer[down_bytes];
};
using SmallRttBlock = RttBlock<16, 16>;
static_assert(sizeof(RttRing) == 24 && offsetof(SmallRttBlock, up) == 24 && offsetof(SmallRttBlock, down) == 48);

// The target's side. `Barrier{}()`: what was written before is seen before what is written after. One context
// at a time for each direction. What a probe may have spoiled is never followed outside of the buffer.
template <typename Block, typename Barrier>
class Rtt {
public:
    // `address`: the block's, as the probe sees it.
    constexpr explicit Rtt(Block& block, std::uint64_t address) : block_(block), address_(address) {}

    // Empty rings; then, last, the id. False: not below 4 GiB.
    bool start() {
        if (address_ + sizeof(Block) > std::uint64_t{1} << 32) return false;
        block_.id[0] = 0;
        Barrier{}();
        constexpr char name[] = "nopscope";
        for (std::size_t i = 0; i < sizeof name; ++i) block_.name[i] = name[i];
        block_.up_count = block_.down_count = 1;
        prepare(block_.up, offsetof(Block, up_buffer), sizeof block_.up_buffer);
        prepare(block_.down, offsetof(Block, down_buffer), sizeof block_.down_buffer);
        // Written from its end, and never whole elsewhere in memory, where a probe would find it.
        constexpr char backwards[] = "TTR REGGES";
        for (std::size_t i = 15; i != 0; --i) block_.id[i] = i < 10 ? backwards[9 - i] : '\0';
        Barrier{}();
        block_.id[0] = 'S';
        Barrier{}();
        return true;
    }

    // Bytes that put() takes.
    std::uint32_t room() const {
        constexpr std::uint32_t bytes = sizeof block_.up_buffer;
        const std::uint32_t read = block_.up.read, write = block_.up.write;
        if (read >= bytes || write >= bytes) return 0;
        return (read > write ? read - write : bytes - write + read) - 1;
    }
    // False: there is no room.
    bool put(std::uint8_t byte) {
        if (room() == 0) return false;
        const std::uint32_t at = block_.up.write;
        block_.up_buffer[at] = byte;
        Barrier{}();
        block_.up.write = at + 1 == sizeof block_.up_buffer ? 0 : at + 1;
        return true;
    }
    // Bytes that the probe has not read.
    std::uint32_t waiting() const { return sizeof block_.up_buffer - 1 - room(); }

    // False: nothing has come.
    bool get(std::uint8_t& byte) {
        const std::uint32_t at = block_.down.read, write = block_.down.write;
        if (at >= sizeof block_.down_buffer || write >= sizeof block_.down_buffer || at == write) return false;
        Barrier{}();
        byte = block_.down_buffer[at];
        Barrier{}();
        block_.down.read = at + 1 == sizeof block_.down_buffer ? 0 : at + 1;
        return true;
    }

private:
    void prepare(RttRing& ring, std::size_t offset, std::uint32_t bytes) {
        ring.name = static_cast<std::uint32_t>(address_ + offsetof(Block, name));
        ring.buffer = static_cast<std::uint32_t>(address_ + offset);
        ring.bytes = bytes;
        ring.write = 0;
        ring.read = 0;
        ring.flags = 0;
    }

    Block& block_;
    std::uint64_t address_;
};

}  // namespace nopscope::hal
