// SPDX-License-Identifier: Apache-2.0
// A block of one core's records in columns: who (tokens), when (clock deltas), and in a third one
// what is rare. Similar things are next to each other, so zstd finds them, and unpacking takes a
// handful of instructions a record. A block can be read without those before it.
//
//   token 0       the return of the innermost entry that is open in this block
//   token 1       a record whose upper half (and, of data, lower half) is in the rare column
//   token 2 + n   the dictionary's upper half n: the same function's entry, mostly
//
// A delta is what was added to the clock, less `delta_base`; the largest value of its width says
// that the delta itself is in the rare column. Data has the clock of the record before it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host-tools/target/stream/session.hpp"
#include "host-tools/recording/open_entries.hpp"
#include "host-tools/recording/payload.hpp"

namespace nopscope::host::nsc {

inline constexpr std::size_t max_block_records = std::size_t{1} << 16;

// Records are missing before record `at` of the block.
struct BlockGap {
    std::size_t at = 0;
    std::uint64_t missing = 0;
    std::uint32_t context = 0;  // that the records after it begin in
    std::uint64_t base = 0;     // the clock before them
};

struct BlockHeader {
    std::uint64_t session = 0;  // number of the SESS chunk before it, from 1
    unsigned core = 0;
    std::uint64_t first_index = 0;
    std::uint64_t missing = 0;  // records, in the session before the first: in sum
    std::uint32_t context = 0;  // that the first record begins in
    std::uint64_t base = 0;     // clock of the record before the first
    std::vector<BlockGap> gaps;
};

// To `out`: at most max_block_records, at least one.
void write_block(const BlockHeader& header, std::span<const protocol::StampedRecord> records,
                 Payload& out);

class BlockReader {
public:
    // False: malformed. `body` must outlive the reading.
    bool open(std::span<const std::uint8_t> body);
    const BlockHeader& header() const { return header_; }
    std::uint64_t next_index() const { return index_; }

    // The next records, valid until the next call; none: the end, or (not ok) malformed from here on.
    // The first batch of a block has no gap, whatever is missing before it.
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
    std::size_t at_ = 0;     // of them are unpacked
    std::size_t next_gap_ = 0;
    std::uint64_t index_ = 0;
    std::uint64_t clock_ = 0;
    std::uint64_t delta_base_ = 0;
    bool wide_tokens_ = false;
    bool wide_deltas_ = false;
    const std::uint8_t* tokens_ = nullptr;
    const std::uint8_t* deltas_ = nullptr;
    protocol::Reader rare_{nullptr, 0};
    std::vector<std::uint64_t> dictionary_;       // by token; see unpack()
    OpenEntries open_;
    std::vector<protocol::StampedRecord> records_;
};

}  // namespace nopscope::host::nsc
