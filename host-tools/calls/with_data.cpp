// SPDX-License-Identifier: Apache-2.0
#include "host-tools/calls/with_data.hpp"

namespace nopscope::host {
namespace {

using protocol::Extended;

// Bit masks of an arguments record: its registers, and those that take two data records.
std::uint32_t registers(const protocol::Event& head) { return head.argument & 0xff; }
std::uint32_t wide_ones(const protocol::Event& head) {
    return head.argument >> 8 & registers(head);
}

// Durations have a reader of their own (complete_calls.hpp).
unsigned data_records(const protocol::Event& head) {
    if (head.kind != protocol::Kind::extended || head.extended == Extended::duration) return 0;
    return protocol::data_count(head.extended, head.argument);
}

// Reads values from data records, one after another.
class Values {
public:
    explicit Values(std::span<const std::uint64_t> data) : data_(data) {}
    std::int64_t next(bool wide) {
        const std::uint64_t low = data_[0];
        const std::uint64_t value =
            wide ? protocol::wide_value(low, data_[1]) : protocol::narrow_value(low);
        data_ = data_.subspan(wide ? 2 : 1);
        return static_cast<std::int64_t>(value);
    }

private:
    std::span<const std::uint64_t> data_;
};

}  // namespace

bool WithData::take(const protocol::Event& event) {
    if (event.kind == protocol::Kind::extended && event.extended == Extended::data) {
        if (count_ == wanted_ || event.index != head_.index + 1 + count_) {
            wanted_ = count_ = 0;
            return false;
        }
        data_[count_++] = event.data;
        return count_ == wanted_;
    }
    head_ = event;
    count_ = 0;
    wanted_ = data_records(event);
    return false;
}

std::span<const CapturedPart> values_of(const WithData& record, std::array<CapturedPart, 8>& room) {
    const protocol::Event& head = record.head();
    const bool counter = head.extended == Extended::counter;
    Values values(record.data().subspan(counter ? 0 : 1));
    if (counter) {
        room[0] = {CapturedPart::counter, head.argument >> 1,
                   values.next((head.argument & 1) != 0)};
        return {room.data(), 1};
    }
    const auto offset = static_cast<std::uint32_t>(record.data()[0] << 3);
    if (head.extended == Extended::result) {
        room[0] = {CapturedPart::result, offset, values.next((head.argument & 1) != 0)};
        return {room.data(), 1};
    }
    std::size_t count = 0;
    for (std::uint32_t number = 0; number < 8; ++number) {
        if ((registers(head) >> number & 1) == 0) continue;
        room[count++] = {number, offset, values.next((wide_ones(head) >> number & 1) != 0)};
    }
    return {room.data(), count};
}

CountedEvents counts_of(const WithData& record) {
    CountedEvents counts{};
    for (std::size_t n = 0; n < record.data().size() && n < counts.size(); ++n) {
        counts[n] = record.data()[n] & 0xffff'ffff;
    }
    return counts;
}

unsigned different_events(std::uint32_t argument) {
    const unsigned count = protocol::event_count(argument);
    return count == 2 && protocol::event_of(argument, 0) == protocol::event_of(argument, 1) ? 1
                                                                                            : count;
}

}  // namespace nopscope::host
