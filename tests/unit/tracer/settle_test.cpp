// SPDX-License-Identifier: Apache-2.0
// How a ring settles: producers must stop meanwhile, and it then begins with a whole record.
#include "tests/unit/tracer/core_fixture.hpp"
#include "tracer/core/flight.hpp"

namespace nopscope::testing {
namespace {

struct Overwriting : CoreUnderTest {
    Overwriting() { overwrite(machine, core, true); }
};

// The ring's own core records as fast as it can while another core settles the ring.
struct Beside : sim::SimMachine {
    explicit Beside(CoreUnderTest& of) : SimMachine(0, 64), beside(of) {}
    std::uint64_t clock() {
        for (unsigned i = 0; i < slots; ++i) beside.call(0x3000);
        return SimMachine::clock();
    }
    CoreUnderTest& beside;
};

TEST(Settle, ProducersAreKeptOff) {
    Overwriting t;
    for (unsigned i = 0; i < 2 * slots; ++i) ASSERT_TRUE(t.call(0x2000));
    const std::uint64_t end = t.core.cursor;
    Beside machine(t);
    settle(machine, t.core);
    EXPECT_EQ(t.core.cursor, end);
    EXPECT_EQ(t.core.dropped, slots);
    EXPECT_EQ(lapped_records(t.core), 0u);
    EXPECT_TRUE(t.core.limit > t.core.tail) << "they are let in again";
}

TEST(Settle, BeginsWithAWholeRecord) {
    for (unsigned more = 0; more < 3; ++more) {
        Overwriting t;
        const auto head = protocol::make_extended(protocol::Extended::duration, 0);
        const std::uint64_t data[] = {5, 6};
        for (unsigned i = 0; i < slots; ++i)
            ASSERT_TRUE(ring_put_many(t.machine, t.core, head, data, no_limit));
        t.calls(more);
        settle(t.machine, t.core);
        ASSERT_TRUE(ring_peek(t.core, t.core.tail));
        EXPECT_FALSE(ring_peek(t.core, t.core.tail)->is(protocol::Extended::data)) << more;
        EXPECT_EQ(t.core.overwritten, record_index(t.core.tail));
    }
}

}  // namespace
}  // namespace nopscope::testing
