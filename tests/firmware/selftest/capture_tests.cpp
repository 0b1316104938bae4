// SPDX-License-Identifier: Apache-2.0
// Arguments, results and counters in the recording.
#include "nopscope/capture.hpp"
#include "tests/firmware/selftest/tracing.hpp"

namespace {

bool begin() { return only_traced(Recorder::graph, Sites::of(both)); }
bool ended() { return is_ok(capture_nothing(Sites::all())) && nothing_left(); }

// Reads the events of a recording one by one.
class Reader {
public:
    explicit Reader(const Recording& recording) : events_(recording.events) {}
    bool done() const { return at_ == events_.size(); }
    bool is_entry(const void* function) { return next() && is_of(*event_, function); }
    bool is_return() { return next() && event_->kind == Kind::ret; }
    bool is_head(Extended what, std::uint32_t argument) {
        return next() && is(*event_, what) && event_->argument == argument;
    }
    bool is_site(const void* function) { return is_data() && is_of(*event_, function); }
    bool is_value(std::uint64_t value) {
        return is_data() && protocol::narrow_value(event_->data) == value;
    }
    bool is_wide(std::uint64_t value) {
        if (!is_data()) return false;
        const std::uint64_t low = event_->data;
        return is_data() && protocol::wide_value(low, event_->data) == value;
    }

private:
    bool next() { return !done() && (event_ = &events_[at_++]) != nullptr; }
    bool is_data() { return next() && is(*event_, Extended::data); }

    std::span<const protocol::Event> events_;
    std::size_t at_ = 0;
    const protocol::Event* event_ = nullptr;
};

constexpr std::uint64_t large = 0x8123'4567'89ab'cdef;

}  // namespace

SELFTEST("captures.arguments_come_before_their_call") {
    REQUIRE(begin() && is_ok(capture_arguments(Sites::of(leaf_only), 1)));
    const Recording recording = record([] {
        (void)calls_leaf(41);
        (void)leaf(large);
        (void)leaf(~std::uint64_t{0});
    });
    Reader reader(recording);
    REQUIRE(recording.well_formed && reader.is_entry(both[1]));
    REQUIRE(reader.is_head(Extended::arguments, 1) && reader.is_site(both[0]) &&
            reader.is_value(41));
    REQUIRE(reader.is_entry(both[0]) && reader.is_return() && reader.is_return());
    REQUIRE(reader.is_head(Extended::arguments, 0x101) && reader.is_site(both[0]));
    REQUIRE(reader.is_wide(large) && reader.is_entry(both[0]) && reader.is_return());
    REQUIRE(reader.is_head(Extended::arguments, 1) && reader.is_site(both[0]));
    REQUIRE(reader.is_value(~std::uint64_t{0}) && reader.is_entry(both[0]) && reader.is_return());
    REQUIRE(reader.done() && ended());
}

SELFTEST("captures.all_eight_registers") {
    REQUIRE(begin() && is_ok(capture_arguments(Sites::of(leaf_only), 0xff)));
    const Recording recording = record([] {
        using Eight = std::uint64_t (*)(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                        std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t);
        const auto eight = reinterpret_cast<Eight>(reinterpret_cast<std::uintptr_t>(leaf_only[0]));
        (void)eight(0, 1, large, 3, ~std::uint64_t{4}, 5, 6, large + 7);
    });
    Reader reader(recording);
    REQUIRE(reader.is_head(Extended::arguments, 0xff | 0x84 << 8) && reader.is_site(both[0]));
    REQUIRE(reader.is_value(0) && reader.is_value(1) && reader.is_wide(large) &&
            reader.is_value(3));
    REQUIRE(reader.is_value(~std::uint64_t{4}) && reader.is_value(5) && reader.is_value(6));
    REQUIRE(reader.is_wide(large + 7) && reader.is_entry(both[0]) && reader.is_return());
    REQUIRE(reader.done() && ended());
}

SELFTEST("captures.results_come_after_their_call") {
    REQUIRE(begin() && is_ok(capture_result(Sites::of(both))));
    const Recording recording = record([] {
        (void)calls_leaf(1);
        (void)leaf(large);
    });
    Reader reader(recording);
    REQUIRE(reader.is_entry(both[1]) && reader.is_entry(both[0]) && reader.is_return());
    REQUIRE(reader.is_head(Extended::result, 0) && reader.is_site(both[0]) && reader.is_value(2));
    REQUIRE(reader.is_return() && reader.is_head(Extended::result, 0) && reader.is_site(both[1]));
    REQUIRE(reader.is_value(3) && reader.is_entry(both[0]) && reader.is_return());
    REQUIRE(reader.is_head(Extended::result, 1) && reader.is_site(both[0]));
    REQUIRE(reader.is_wide(large + 1) && reader.done() && ended());
}

SELFTEST("captures.a_function_has_one_mask") {
    REQUIRE(begin() && is_ok(capture_arguments(Sites::of(both), 1)));
    REQUIRE(is_ok(capture_arguments(Sites::of(leaf_only), 2)));
    const Recording recording = record([] { (void)calls_leaf(5); });
    Reader reader(recording);
    REQUIRE(reader.is_head(Extended::arguments, 1) && reader.is_site(both[1]) &&
            reader.is_value(5));
    REQUIRE(reader.is_entry(both[1]) && recording.events.size() == 3 + 2 + 3 + 2);
    REQUIRE((recording.events[4].argument & 0xff) == 2);
    REQUIRE(is_ok(capture_arguments(Sites::of(both), 0)));
    const Recording none = record([] { (void)calls_leaf(5); });
    REQUIRE(none.events.size() == 4);
    for (std::uint8_t mask = 1; mask <= 8; ++mask) {
        // Each mask stays in use by one function.
        REQUIRE(is_ok(capture_arguments(Sites::range(mask, 1), mask)));
    }
    REQUIRE(capture_arguments(Sites::of(leaf_only), 9) == Status::too_many && ended());
}

SELFTEST("captures.counters") {
    REQUIRE(begin());
    const Recording recording = record([] {
        counter(7, 12345);
        counter(0xffffff, -1);
        counter(1, std::int64_t{1} << 56);
        stop();
        counter(1, 5);
    });
    Reader reader(recording);
    REQUIRE(recording.well_formed);
    REQUIRE(reader.is_head(Extended::counter, 7 << 1) && reader.is_value(12345));
    REQUIRE(reader.is_head(Extended::counter, 0xffffff << 1) && reader.is_value(~std::uint64_t{0}));
    REQUIRE(reader.is_head(Extended::counter, 1 << 1 | 1) &&
            reader.is_wide(std::uint64_t{1} << 56));
    REQUIRE(reader.done() && ended());
}
