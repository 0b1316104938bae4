// SPDX-License-Identifier: Apache-2.0
#include "host-tools/bench/codec/rounds.hpp"

#include <algorithm>

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

}  // namespace nopscope::host
