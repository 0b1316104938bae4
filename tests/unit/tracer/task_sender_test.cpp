// SPDX-License-Identifier: Apache-2.0
// The frames that tell the names and facts of contexts and objects.
#include "tracer/recorders/task_sender.hpp"
#include "tests/unit/tracer/core_fixture.hpp"

namespace nopscope::testing::task_sender_test {

constexpr std::uint64_t hz = 1'000'000;

struct Told {
    protocol::TaskFacts facts;
    std::string name;
};

struct TaskSenderTest : CoreTest {
    TaskSenderTest() : CoreTest(2) {
        sender.open(hz, cores, all);
        cores[1].stops = stopped_absent;
        core.stack_low = 0x1000;
        core.stack_high = 0x2000;
    }
    Context& create(std::uint32_t number, const char* name = "") {
        Context& context = contexts[number];
        context.number = number;
        context.core = 0;
        context.stack_low = 0x10'000 * number;
        context.stack_high = context.lowest_sp = context.stack_low + 0x8000;
        context.next = all.created;
        all.created = &context;
        sender.describe(context, {.name = name, .priority = 7, .id = 0xffff'0000'1234'5678});
        return context;
    }
    // Takes frames while there are any. Returns how many.
    unsigned take() {
        told.clear();
        objects.clear();
        unsigned frames = 0;
        while (sender.waits(now)) {
            const std::size_t bytes = sender.next(now, payload);
            if (bytes == 0) continue;
            ++frames;
            EXPECT_TRUE(protocol::read_tasks(payload, bytes, [&](const auto& one) { add(one); }));
        }
        return frames;
    }
    std::size_t told_after(std::uint64_t ticks) {
        now += ticks;
        take();
        return told.size();
    }
    static std::string text(const protocol::TaskName& name) {
        return {reinterpret_cast<const char*>(name.bytes), name.size};
    }
    void add(const protocol::TaskFacts& facts) { told[facts.number] = {facts, text(facts.name)}; }
    void add(const protocol::ObjectName& object) { objects[object.id] = text(object.name); }

    AllContexts all;
    TaskSender sender;
    Context contexts[200];
    std::uint64_t now = 20 * hz;
    protocol::Byte payload[protocol::max_payload_bytes];
    std::map<std::uint32_t, Told> told;
    std::map<std::uint64_t, std::string> objects;
};

TEST_F(TaskSenderTest, TellsWhatIsNewAndLaterAll) {
    sender.request();
    EXPECT_FALSE(sender.waits(now)) << "there are no contexts";
    create(1, "one");
    EXPECT_GT(take(), 0u);
    EXPECT_EQ(told.at(1).name, "one");
    EXPECT_EQ(told.at(0).facts.core, 1u) << "core 0's main context; core 1 has not joined";
    EXPECT_EQ(told.size(), 2u);

    create(2, "two");
    EXPECT_FALSE(sender.waits(now)) << "changes are sent together";
    EXPECT_EQ(told_after(hz / 10), 1u);
    EXPECT_EQ(told.at(2).name, "two");

    now += 9 * hz;
    EXPECT_FALSE(sender.waits(now));
    EXPECT_EQ(told_after(hz), 3u) << "every ten seconds";
    sender.request();
    EXPECT_EQ(told_after(0), 3u) << "and on request";
    sender.request();
    all.lock = 1;  // by code that may have panicked: the sender waits for nobody
    EXPECT_EQ(sender.next(now, payload), 0u);
}

TEST_F(TaskSenderTest, TellsTheFactsOfAContext) {
    Context& context = create(3, "a name that is longer than thirty-one bytes");
    context.interrupts = true;
    context.core = 2;
    context.lowest_sp -= 0x120;
    take();
    const protocol::TaskFacts& facts = told.at(3).facts;
    EXPECT_EQ(tuple(told.at(3).name, facts.priority, facts.id, facts.flags, facts.core,
                    facts.stack_low, facts.stack_bytes, facts.stack_used),
              tuple("a name that is longer than thir", 7u, 0xffff'0000'1234'5678u,
                    protocol::runs_interrupts, 2u, 0x30'000u, 0x8000u, 0x120u));
}

// While a context runs, its core has its bounds.
TEST_F(TaskSenderTest, AsksTheCoreForTheContextThatRuns) {
    Context& context = create(4);
    context.core = 1;
    core.context = &context;
    core.stack_low = 0x7000;
    core.stack_high = 0x9000;
    core.lowest_sp = 0x8f00;
    all.mains[0].stack_low = 0x500;
    all.mains[0].stack_high = 0x600;
    take();
    EXPECT_EQ(
        tuple(told.at(4).facts.stack_low, told.at(4).facts.stack_bytes, told.at(4).facts.stack_used,
              told.at(0).facts.stack_low, told.at(0).facts.stack_bytes),
        tuple(0x7000u, 0x2000u, 0x100u, 0x500u, 0x100u));
    EXPECT_EQ(told.at(0).facts.stack_used, 0u) << "a main context's is not known";
    // Stacks without bounds: the main context's, and that of one on several stacks (strays.hpp).
    core.context = nullptr;
    core.stack_low = 0;
    core.stack_high = ~std::uint64_t{0};
    create(1).stack_low = ~std::uint64_t{0};
    sender.request();
    take();
    for (const unsigned number : {0u, 1u}) EXPECT_EQ(told.at(number).facts.stack_bytes, 0u);
}

TEST_F(TaskSenderTest, ManyComeInShortFrames) {
    for (unsigned n = 1; n < 150; ++n) create(n, "task");
    EXPECT_EQ(take(), 150u / 2);
    EXPECT_EQ(told.size(), 150u);
    // Those that have been told take no frame, however many they are.
    create(150, "new");
    now += hz / 10;
    EXPECT_EQ(take(), 1u);
    EXPECT_EQ(told.size(), 1u);
}

TEST_F(TaskSenderTest, AContextThatEndsIsToldOnce) {
    for (unsigned n = 1; n < 20; ++n) create(n, "task");
    ASSERT_NE(sender.next(now, payload), 0u);  // the next is contexts[18]
    Context* const next = &contexts[18];
    contexts[19].next = next->next;
    sender.forget(*next);
    *next = {};
    take();
    EXPECT_EQ(tuple(told.at(18).facts.flags, told.at(18).name, told.at(17).name),
              tuple(protocol::has_ended, "task", "task"));
    sender.request();
    take();
    EXPECT_FALSE(told.contains(18));
    // More of them than there is room for.
    for (unsigned n = 1; n < 12; ++n) sender.forget(contexts[n]);
    now += hz;
    take();
    unsigned ended = 0;
    for (const auto& [number, one] : told) ended += one.facts.flags == protocol::has_ended ? 1 : 0;
    EXPECT_EQ(ended, 8u);
}

TEST_F(TaskSenderTest, ManyThatEndSoonAreTold) {
    take();
    std::map<std::uint32_t, std::string> ended;
    for (std::uint32_t number = 1; number < 100; ++number) {
        Context& context = create(number, "child");
        all.created = context.next;
        sender.forget(context);
        take();
        for (const auto& [its, one] : told)
            if ((one.facts.flags & protocol::has_ended) != 0) ended[its] = one.name;
    }
    EXPECT_GE(ended.size(), 96u) << "the last ones wait";
    for (const auto& [number, its_name] : ended) EXPECT_EQ(its_name, "child");
}

TEST_F(TaskSenderTest, NamesObjects) {
    EXPECT_TRUE(sender.name(1, "first"));
    EXPECT_TRUE(sender.name(2, "second"));
    EXPECT_TRUE(sender.name(1, "renamed"));
    take();
    EXPECT_EQ(objects, (std::map<std::uint64_t, std::string>{{1, "renamed"}, {2, "second"}}));
    EXPECT_TRUE(sender.name(2, nullptr));
    sender.request();
    take();
    EXPECT_EQ(objects.size(), 1u);
    for (unsigned id = 10; id < 10 + NOPSCOPE_OBJECT_NAMES - 1; ++id)
        EXPECT_TRUE(sender.name(id, "many"));
    EXPECT_FALSE(sender.name(100, "one too many"));
    EXPECT_TRUE(sender.name(100, nullptr)) << "it has no name";
}

}  // namespace nopscope::testing::task_sender_test
