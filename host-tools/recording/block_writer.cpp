// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <unordered_map>

#include "host-tools/recording/block.hpp"

namespace nopscope::host::nsc {
namespace {

using protocol::StampedRecord;

constexpr std::size_t max_dictionary = 0xfffd;
constexpr std::int64_t least_delta_base = -16;

class BlockWriter {
public:
    BlockWriter(const BlockHeader& header, std::span<const StampedRecord> records)
        : header_(header), records_(records) {
        find_deltas();
        find_tokens();
    }

    void write(Payload& out) const {
        const bool wide_tokens = dictionary_.size() > 0xfe;
        out.varint(header_.session).varint(header_.core).varint(header_.first_index);
        out.varint(header_.missing).varint(header_.context).varint(header_.base);
        out.varint(records_.size()).varint(header_.gaps.size());
        for (std::size_t at = 0; const BlockGap& gap : header_.gaps) {
            out.varint(gap.at - at).varint(gap.missing).varint(gap.context).varint(gap.base);
            at = gap.at;
        }
        out.varint((wide_tokens ? 1u : 0u) | (wide_deltas_ ? 2u : 0u));
        out.varint(protocol::zigzag(delta_base_)).varint(dictionary_.size());
        for (const std::uint32_t high : dictionary_) out.varint(high);
        out.varint(rare_.bytes().size()).raw(rare_.bytes());
        column(out, tokens_, wide_tokens);
        column(out, columned_, wide_deltas_);
    }

private:
    static void column(Payload& out, const std::vector<std::uint16_t>& values, bool wide) {
        for (const std::uint16_t value : values) {
            wide ? out.fixed(value) : out.fixed(static_cast<std::uint8_t>(value));
        }
    }

    // Sets each record's delta, and chooses `delta_base_` and the width that suit most of them.
    void find_deltas() {
        std::uint64_t clock = header_.base;
        auto gap = header_.gaps.begin();
        std::int64_t least = 0;
        for (std::size_t i = 0; i < records_.size(); ++i) {
            if (gap != header_.gaps.end() && gap->at == i) clock = gap++->base;
            const bool data = records_[i].record.is(protocol::Extended::data);
            deltas_.push_back(data ? 0 : records_[i].clock - clock);
            least = std::min(least, static_cast<std::int64_t>(deltas_.back()));
            if (!data) clock = records_[i].clock;
        }
        delta_base_ = std::max(least, least_delta_base);
        const auto large = std::count_if(deltas_.begin(), deltas_.end(), [this](auto delta) {
            return above_base(delta) >= std::numeric_limits<std::uint8_t>::max();
        });
        wide_deltas_ = static_cast<std::size_t>(large) > records_.size() / 8;
    }
    std::uint64_t above_base(std::uint64_t delta) const {
        return delta - static_cast<std::uint64_t>(delta_base_);
    }

    void find_tokens() {
        open_.reset(records_.size());
        std::uint64_t index = header_.first_index;
        auto gap = header_.gaps.begin();
        const std::uint64_t largest = wide_deltas_ ? 0xffff : 0xff;
        for (std::size_t i = 0; i < records_.size(); ++i, ++index) {
            if (gap != header_.gaps.end() && gap->at == i) index += gap++->missing;
            tokens_.push_back(token(records_[i].record, index));
            const std::uint64_t above = above_base(deltas_[i]);
            columned_.push_back(static_cast<std::uint16_t>(std::min(above, largest)));
            if (records_[i].record.is(protocol::Extended::data)) continue;
            if (above >= largest)
                rare_.varint(protocol::zigzag(static_cast<std::int64_t>(deltas_[i])));
        }
    }

    std::uint16_t token(protocol::Record record, std::uint64_t index) {
        const auto high = static_cast<std::uint32_t>(record.word >> 32);
        if (record.kind() == protocol::Kind::ret && !open_.empty() &&
            open_.innermost() >> 32 == high) {
            --open_.top();
            return 0;
        }
        open_.follow(record, index);
        const bool data = record.is(protocol::Extended::data);
        if (record.kind() != protocol::Kind::ret && !data) {
            const auto known = numbers_.find(high);
            if (known != numbers_.end()) return known->second;
            if (dictionary_.size() < max_dictionary) {
                dictionary_.push_back(high);
                return numbers_[high] = static_cast<std::uint16_t>(dictionary_.size() + 1);
            }
        }
        rare_.varint(high);
        if (data) rare_.varint(record.clock_low());
        return 1;
    }

    const BlockHeader& header_;
    std::span<const StampedRecord> records_;
    std::vector<std::uint64_t> deltas_;
    std::int64_t delta_base_ = 0;
    bool wide_deltas_ = false;
    OpenEntries open_;
    std::unordered_map<std::uint32_t, std::uint16_t> numbers_;  // dictionary -> token
    std::vector<std::uint32_t> dictionary_;
    std::vector<std::uint16_t> tokens_;
    std::vector<std::uint16_t> columned_;
    Payload rare_;
};

}  // namespace

void write_block(const BlockHeader& header, std::span<const StampedRecord> records, Payload& out) {
    BlockWriter(header, records).write(out);
}

}  // namespace nopscope::host::nsc
