// SPDX-License-Identifier: Apache-2.0
// A block has one core's records in three columns: tokens (which record), clock deltas, and rare
// values. Similar values are next to each other, so zstd finds them, and unpacking takes a handful
// of instructions a record. A reader needs no earlier block to read a block.
//
//   token 0       the return of the innermost entry that is open in this block
//   token 1       a record whose upper half is in the rare column; for data, its lower half too
//   token 2 + n   a record with the dictionary's upper half n: mostly an entry of one function
//
// A delta is the increase of the clock less `delta_base`. The largest value of its width means that
// the increase is in the rare column. Data has the clock of the record before it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host-tools/line/stream/session.hpp"
#include "host-tools/recording/open_entries.hpp"
#include "host-tools/recording/payload.hpp"

namespace nopscope::host::nsc {

inline constexpr std::size_t max_block_records = std::size_t{1} << 16;

// Records are missing before record `at` of the block.
struct BlockGap {
    std::size_t at = 0;
    std::uint64_t missing = 0;
    std::uint32_t context = 0;  // after the gap
    std::uint64_t base = 0;     // clock of the last missing record
};

struct BlockHeader {
    std::uint64_t session = 0;  // number of the SESS chunk before it, from 1
    unsigned core = 0;
    std::uint64_t first_index = 0;
    std::uint64_t missing = 0;  // all records that are missing in the session before the first
    std::uint32_t context = 0;  // in which the first record begins
    std::uint64_t base = 0;     // clock of the record before the first
    std::vector<BlockGap> gaps;
};

// Appends a block to `out`. `records`: 1 to max_block_records.
void write_block(const BlockHeader& header, std::span<const protocol::StampedRecord> records,
                 Payload& out);

class BlockReader {
public:
    // False: malformed. `body` must stay valid until the last next().
    bool open(std::span<const std::uint8_t> body);
    const BlockHeader& header() const { return header_; }
    std::uint64_t next_index() const { return index_; }

    // The next records, valid until the next call. None: the end, or the rest is malformed (!ok()).
    // The first batch of a block never has `gap` set: the caller knows what is missing before it.
    TraceBatch next();
    bool ok() const { return ok_; }

private:
    bool read_header(protocol::Reader& in);
    bool read_dictionary(protocol::Reader& in);
    template <typename Token, typename Delta>
    [[gnu::noinline]] std::size_t unpack(std::size_t count);
    [[gnu::noinline]] std::uint64_t other_record(std::uint64_t word, std::uint64_t index);
    [[gnu::noinline]] std::uint64_t rare_delta();

    BlockHeader header_;
    bool ok_ = true;
    std::size_t count_ = 0;  // records in the block
    std::size_t at_ = 0;     // records unpacked so far
    std::size_t next_gap_ = 0;
    std::uint64_t index_ = 0;
    std::uint64_t clock_ = 0;
    std::uint64_t delta_base_ = 0;
    bool wide_tokens_ = false;
    bool wide_deltas_ = false;
    const std::uint8_t* tokens_ = nullptr;
    const std::uint8_t* deltas_ = nullptr;
    protocol::Reader rare_{nullptr, 0};
    std::vector<std::uint64_t> dictionary_;  // by token; see block_reader.cpp
    std::uint64_t words_ = 0;                // of the block, from token 2 on
    OpenEntries open_;
    std::vector<protocol::StampedRecord> records_;
};

}  // namespace nopscope::host::nsc
