// SPDX-License-Identifier: Apache-2.0
// The payload of a profile frame: the profile's sums for some functions of one core.
//
//     number varint   of the read-out, from 1; the same in all cores' frames of one read-out
//     part varint     number of the frame in this core's read-out, from 0; << 1, bit 0: the last
//     now varint      clock, ticks
//     then, to the end of the payload, for each called function, by ascending site:
//       site varint   (site - text_base) / 8, minus the previous one in this payload (at first 0)
//       total varint, self varint (zigzag), min varint, max varint: ticks
//       bins varint   how many are not zero; for each, by ascending bin:
//         bin varint  minus the previous one in this function (at first 0)
//         count varint
//
// Bin 0 counts calls of 0 ticks, bin n calls of 2^(n-1) to 2^n - 1 ticks. All values are since
// boot, so a later read-out replaces an earlier one.
#pragma once

#include "tracer/protocol/frame.hpp"

namespace nopscope::protocol {

inline constexpr unsigned profile_bins = 63;
inline constexpr std::size_t max_profile_entry_bytes =
    5 + 4 * max_varint_bytes + 1 + profile_bins * (1 + max_varint_bytes);

struct ProfileHeader {
    std::uint64_t number = 0;
    std::uint64_t part = 0;
    bool last = false;
    std::uint64_t now = 0;
};

struct ProfileEntry {
    std::uint32_t site_offset = 0;  // bytes from text_base
    std::uint64_t total = 0;
    std::int64_t self = 0;
    std::uint64_t min = 0;
    std::uint64_t max = 0;
    std::uint64_t bins[profile_bins] = {};

    std::uint64_t calls() const {
        std::uint64_t sum = 0;
        for (const std::uint64_t bin : bins) sum += bin;
        return sum;
    }
};

// The part of a payload that profile and profile_events frames share. A derived class has put(),
// which adds entries, and finish(), which writes the header. `last` is known only then, so there is
// room for the longest header, and finish() moves the entries up to the real one.
template <std::size_t header_numbers, std::size_t max_entry_bytes>
class ReadOutWriter {
public:
    bool has_room() const {
        return header_room + out_.size() + max_entry_bytes <= max_payload_bytes;
    }

protected:
    explicit ReadOutWriter(Byte* payload) : out_(payload + header_room), payload_(payload) {}

    // Call it in ascending order of sites.
    void put_site(std::uint32_t site_offset) {
        out_.varint((site_offset - before_) >> 3);
        before_ = site_offset;
    }
    // `others`: the header's numbers after `part`. Returns the payload bytes.
    template <typename Header, typename... Numbers>
    std::size_t finish(const Header& header, Numbers... others) {
        Writer head(payload_);
        head.varint(header.number);
        head.varint(header.part << 1 | (header.last ? 1 : 0));
        (head.varint(others), ...);
        head.bytes(payload_ + header_room, out_.size());
        return head.size();
    }

    Writer out_;

private:
    static constexpr std::size_t header_room = header_numbers * max_varint_bytes;

    Byte* payload_;
    std::uint32_t before_ = 0;
};

// A derived class reads the header's numbers after `part`, and has next(), which reads an entry. It
// returns false at the end of the payload, or if it is malformed: then ok() is false.
template <typename Header>
class ReadOutReader {
public:
    const Header& header() const { return header_; }
    bool ok() const { return ok_ && in_.ok(); }

protected:
    ReadOutReader(const Byte* payload, std::size_t count) : in_(payload, count) {
        header_.number = in_.varint();
        const std::uint64_t part = in_.varint();
        header_.part = part >> 1;
        header_.last = (part & 1) != 0;
    }
    bool next_site(std::uint32_t& site_offset) {
        if (!ok() || in_.left() == 0) return false;
        site_ += in_.varint();
        ok_ = site_ >> 29 == 0;
        site_offset = static_cast<std::uint32_t>(site_) << 3;
        return ok();
    }

    Reader in_;
    Header header_;
    bool ok_ = true;

private:
    std::uint64_t site_ = 0;
};

class ProfileWriter : public ReadOutWriter<3, max_profile_entry_bytes> {
public:
    explicit ProfileWriter(Byte* payload) : ReadOutWriter(payload) {}

    // `bin(n)` returns the count of bin n.
    template <typename Bin>
    void put(std::uint32_t site_offset, std::uint64_t total, std::int64_t self, std::uint64_t min,
             std::uint64_t max, Bin bin) {
        put_site(site_offset);
        out_.varint(total);
        out_.varint(zigzag(self));
        out_.varint(min);
        out_.varint(max);
        std::uint64_t counts[profile_bins];
        unsigned used = 0;
        for (unsigned n = 0; n < profile_bins; ++n) used += (counts[n] = bin(n)) != 0;
        out_.varint(used);
        unsigned last = 0;
        for (unsigned n = 0; n < profile_bins; ++n) {
            if (counts[n] == 0) continue;
            out_.varint(n - last);
            last = n;
            out_.varint(counts[n]);
        }
    }
    std::size_t finish(const ProfileHeader& header) {
        return ReadOutWriter::finish(header, header.now);
    }
};

class ProfileReader : public ReadOutReader<ProfileHeader> {
public:
    ProfileReader(const Byte* payload, std::size_t count) : ReadOutReader(payload, count) {
        header_.now = in_.varint();
    }
    bool next(ProfileEntry& entry) {
        entry = {};
        if (!next_site(entry.site_offset)) return false;
        entry.total = in_.varint();
        entry.self = unzigzag(in_.varint());
        entry.min = in_.varint();
        entry.max = in_.varint();
        std::uint64_t bin = 0;
        const std::uint64_t used = in_.varint();
        ok_ = used <= profile_bins;
        for (std::uint64_t i = 0; ok_ && i < used; ++i) {
            bin += in_.varint();
            const std::uint64_t count = in_.varint();
            ok_ = bin < profile_bins;
            if (ok_) entry.bins[bin] = count;
        }
        return ok();
    }
};

}  // namespace nopscope::protocol
