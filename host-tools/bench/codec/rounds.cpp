// SPDX-License-Identifier: Apache-2.0
#include "host-tools/bench/codec/rounds.hpp"

#include <algorithm>
#include <cmath>

namespace nopscope::host {

void LineEncoder::begin(std::uint64_t clock) {
    encoder_->begin(builder_.payload(), {.index = encoder_->next_index(), .clock = clock});
    key_frames_ += encoder_->is_key();
    open_ = true;
}

void LineEncoder::end() {
    const std::size_t payload = encoder_->end();
    const std::size_t at = line_.size();
    line_.resize(at + protocol::max_encoded_bytes);
    line_.resize(at + builder_.encode({protocol::Stream::trace, 0, 1, sequence_++}, payload,
                                      line_.data() + at));
    open_ = false;
}

void LineEncoder::feed(std::span<const StampedRecord> records) {
    const StampedRecord* at = records.data();
    const StampedRecord* const last = at + records.size();
    while (at != last) {
        if (!open_) begin(sequence_ == 0 ? at->clock : encoder_->clock());
        const auto left = static_cast<std::size_t>(last - at);
        encoder_->fill(left, [&](protocol::Record& record, std::uint64_t& clock) {
            record = at->record;
            clock = at->clock;
            ++at;
            return true;
        });
        if (!encoder_->has_room()) end();
    }
}

void LineEncoder::finish() {
    if (open_) end();
}

std::span<const StampedRecord> LineDecoder::next(std::size_t enough) {
    std::size_t count = 0;
    while (ok_ && !line_.empty() && count < enough) {
        const auto size =
            static_cast<std::size_t>(std::find(line_.begin(), line_.end(), 0) - line_.begin());
        const protocol::ParsedFrame frame = protocol::parse_frame(line_.data(), size);
        line_ = line_.subspan(size + 1);
        ok_ = frame.ok && frame.header.sequence == sequence_++ &&
              decoder_->open(frame.payload, frame.payload_bytes) ==
                  protocol::TraceDecoder::Opened::ready;
        if (!ok_) break;
        records_.resize(std::max(records_.size(), count + decoder_->header().count));
        StampedRecord* to = records_.data() + count;
        count += decoder_->header().count;
        ok_ = decoder_->read([&](protocol::Record record, std::uint64_t clock) {
            *to++ = {record, clock};
        });
    }
    return {records_.data(), ok_ ? count : 0};
}

bool Meter::Coder::bit(protocol::Probability& p, bool one) {
    pending -= std::log2((one ? p : 65536 - p) / 65536.0);
    p = one ? protocol::more_likely(p) : protocol::less_likely(p);
    ++spending.decisions;
    return one;
}

std::uint32_t Meter::Coder::plain(std::uint32_t value, unsigned count) {
    pending += count;
    return value & ((1u << count) - 1);
}

void Meter::Coder::spent_on(protocol::Spent what) {
    (what == protocol::Spent::identity ? spending.identity_bits : spending.time_bits) += pending;
    pending = 0;
}

Meter::Meter() { model_->reset(walk_, 0, 0); }

void Meter::feed(std::span<const StampedRecord> records) {
    for (const StampedRecord& each : records) {
        protocol::Record record = each.record;
        std::uint64_t clock = each.clock;
        model_->code(walk_, record, clock);
        const double bits = walk_.spending.identity_bits + walk_.spending.time_bits;
        if (bits - group_begins_at_ > 8.0 * protocol::max_group_bytes) {
            group_begins_at_ = bits;
            model_->reset(walk_, walk_.index, walk_.clock);
        }
    }
}

}  // namespace nopscope::host
