// SPDX-License-Identifier: Apache-2.0
// SEGGER RTT: byte rings in memory that a debug probe reads and writes while the target runs. The
// probe finds the control block by its id. Layout: SEGGER's UM08001, "RTT control block". Addresses
// and offsets have 32 bits, so the block and its buffers lie below 4 GiB. The memory must not be
// cached: the probe does not look into caches.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nopscope::hal {

// One side writes `write`, the other `read`: offsets into the buffer, equal if it is empty.
struct RttRing {
    std::uint32_t name;
    std::uint32_t buffer;
    std::uint32_t bytes;
    volatile std::uint32_t write;
    volatile std::uint32_t read;
    std::uint32_t flags;  // 0: the writer drops what does not fit
};

template <std::uint32_t up_bytes, std::uint32_t down_bytes>
struct RttBlock {
    static_assert(up_bytes % 8 == 0);
    volatile char id[16];
    std::int32_t up_count;
    std::int32_t down_count;
    RttRing up;
    RttRing down;
    char name[16];
    volatile std::uint64_t up_buffer[up_bytes / 8];
    volatile std::uint8_t down_buffer[down_bytes];
};
using SmallRttBlock = RttBlock<16, 16>;
static_assert(sizeof(RttRing) == 24 && offsetof(SmallRttBlock, up) == 24 &&
              offsetof(SmallRttBlock, down) == 48);

// The target's side. `Barrier{}()` orders the writes before it and after it for the probe. One
// context at a time for each direction. Fields that a probe may have corrupted never lead outside
// of the buffer.
//
// An access to uncached memory takes some hundred cycles, and so does a barrier. So the target
// keeps its offsets here too, and writes the block's offsets only for the probe. It stores eight
// bytes at once, and publishes once a frame, or once a burst.
template <typename Block, typename Barrier>
class Rtt {
public:
    constexpr explicit Rtt(Block& block) : block_(block) {}

    // Makes the rings empty and writes the id last. `address`: the block's. False: not below 4 GiB.
    bool start(std::uint64_t address) {
        if (address + sizeof(Block) > std::uint64_t{1} << 32) return false;
        block_.id[0] = 0;
        Barrier{}();
        constexpr char name[] = "nopscope";
        for (std::size_t i = 0; i < sizeof name; ++i) block_.name[i] = name[i];
        block_.up_count = block_.down_count = 1;
        prepare(block_.up, address, offsetof(Block, up_buffer), bytes);
        prepare(block_.down, address, offsetof(Block, down_buffer), sizeof block_.down_buffer);
        at_ = stored_ = published_ = room_ = down_at_ = 0;
        word_ = 0;
        // Written backwards: a probe must not find the whole id anywhere else in memory.
        constexpr char backwards[] = "TTR REGGES";
        for (std::size_t i = 15; i != 0; --i) block_.id[i] = i < 10 ? backwards[9 - i] : '\0';
        Barrier{}();
        block_.id[0] = 'S';
        Barrier{}();
        return true;
    }

    // How many bytes put() takes.
    std::uint32_t room() {
        const std::uint32_t read = block_.up.read;
        if (read >= bytes) return room_ = 0;
        return room_ = (read > at_ ? read - at_ : bytes - at_ + read) - 1;
    }
    // False: there is no room. The probe learns of the bytes at the end of a frame, after a burst,
    // when the ring is full, or by publish().
    bool put(std::uint8_t byte) {
        if (room_ == 0) {
            publish();
            if (room() == 0) return false;
        }
        --room_;
        word_ |= std::uint64_t{byte} << 8 * (at_ % 8);
        if (++at_ % 8 == 0) store_word();
        if (byte == frame_end) publish();
        return true;
    }
    // Tells the probe of all bytes so far.
    void publish() {
        if (published_ == at_) return;
        auto* const buffer = reinterpret_cast<volatile std::uint8_t*>(block_.up_buffer);
        for (; stored_ != at_; ++stored_)
            buffer[stored_] = static_cast<std::uint8_t>(word_ >> 8 * (stored_ % 8));
        Barrier{}();
        block_.up.write = published_ = at_;
    }
    // How many bytes the probe has not read.
    std::uint32_t waiting() { return bytes - 1 - room(); }

    // False: no byte has come.
    bool get(std::uint8_t& byte) {
        const std::uint32_t write = block_.down.write;
        if (write >= sizeof block_.down_buffer || down_at_ == write) return false;
        Barrier{}();
        byte = block_.down_buffer[down_at_];
        Barrier{}();
        down_at_ = down_at_ + 1 == sizeof block_.down_buffer ? 0 : down_at_ + 1;
        block_.down.read = down_at_;
        return true;
    }

private:
    static constexpr std::uint32_t bytes = sizeof Block::up_buffer;
    static constexpr std::uint8_t frame_end = 0;  // tracer/protocol/cobs.hpp
    static constexpr std::uint32_t burst_bytes = 256;

    void prepare(RttRing& ring, std::uint64_t address, std::size_t offset, std::uint32_t size) {
        ring.name = static_cast<std::uint32_t>(address + offsetof(Block, name));
        ring.buffer = static_cast<std::uint32_t>(address + offset);
        ring.bytes = size;
        ring.write = 0;
        ring.read = 0;
        ring.flags = 0;
    }
    std::uint32_t pending() const {
        return at_ >= published_ ? at_ - published_ : bytes - published_ + at_;
    }
    // Stores the last eight bytes. The probe may know some of them already; these do not change.
    void store_word() {
        block_.up_buffer[at_ / 8 - 1] = word_;
        word_ = 0;
        if (at_ == bytes) at_ = 0;
        stored_ = at_;
        if (pending() >= burst_bytes) publish();
    }

    Block& block_;
    // Offsets into the buffers.
    std::uint32_t at_ = 0;         // the next byte
    std::uint32_t stored_ = 0;     // bytes before it are in the buffer; later ones are in word_
    std::uint32_t published_ = 0;  // the probe knows of the bytes before it
    std::uint32_t room_ = 0;       // at least this many bytes
    std::uint32_t down_at_ = 0;
    std::uint64_t word_ = 0;
};

}  // namespace nopscope::hal
