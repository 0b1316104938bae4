// SPDX-License-Identifier: Apache-2.0
#include "host-tools/bench/codec/meter.hpp"

#include <cmath>

namespace nopscope::host {

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
