// SPDX-License-Identifier: Apache-2.0
// What a page receives of a line: a new view if there is one, and its status, for any bytes.
#include "host-tools/views/serve/subjects.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::shown_line_test {

class ShownLineTest : public testing::Test {
protected:
    void send() {
        target.flush();
        sent += target.bytes.size();
        wire.send(target.bytes);
        target.bytes.clear();
        while (live.status().line.bytes < sent) std::this_thread::sleep_for(1ms);
        std::this_thread::sleep_for(1s);  // the view is updated once a second
    }
    json status() { return json::parse(shown.status(console)); }

    Wire wire;
    Live live{LiveOptions{.line = {.from = "test:", .image = {}, .memory = {}, .steering = {}},
                          .timeline = true},
              [this] { return std::make_unique<WireSource>(wire); }, false};
    ShownLine shown{live, "title", false, nullptr};
    TargetStream target;
    std::size_t sent = 0;
    std::uint64_t console = 0;
};

TEST_F(ShownLineTest, ThereIsAnotherViewWhenSomethingHasCome) {
    EXPECT_EQ(shown.view(), nullptr);
    EXPECT_EQ(status()["view"], 0);
    EXPECT_EQ(status()["state"], "waiting");
    target.hello();
    target.entry(1);
    target.ret(target.entry(2));
    send();
    const auto first = shown.view();
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(status()["view"], first->number);
    EXPECT_EQ(status()["state"], "running");
    const json view = json::parse(first->json);
    EXPECT_EQ(view["complaint"], "") << "what runs on does not end early";
    EXPECT_EQ(view["paths"]["calls"], json({0, 1, 1}));
    EXPECT_EQ(view["timeline"]["calls"], 2);
    target.hello();
    send();
    EXPECT_EQ(shown.view(), first) << "a hello changes nothing";
    target.ret(target.entry(2));
    send();
    const auto second = shown.view();
    EXPECT_NE(second->number, first->number);
    EXPECT_EQ(json::parse(second->json)["paths"]["calls"], json({0, 1, 2}));
    EXPECT_EQ(second->gzip.substr(0, 2), "\x1f\x8b");
    EXPECT_TRUE(status()["rates"].is_object());
}

TEST_F(ShownLineTest, TheConsoleIsToldOnceAndAsText) {
    target.hello();
    target.console("one \x1b[31m<b>\xff\xc3\xbc\n");
    send();
    EXPECT_EQ(status()["console"], "one \\x1b[31m<b>\\xff\xc3\xbc\n");
    EXPECT_EQ(status()["console"], "");
    target.console("two");
    send();
    json now = status();
    EXPECT_EQ(now["console"], "two");
    EXPECT_EQ(now["console_begins"], false);
    for (int n = 0; n < 3000; ++n) target.console(std::string(100, 'x'));
    send();
    now = status();
    EXPECT_EQ(now["console_begins"], true) << "more came than is kept";
    EXPECT_LE(now["console"].get<std::string>().size(), 2 * Watch::max_console_bytes);
}

TEST_F(ShownLineTest, AnAnswerIsASentence) {
    const ControlAnswer answer = shown.ask({.words = {"mark", "x"}});
    EXPECT_EQ(answer.status, Exit::usage);
    EXPECT_THAT(answer.text, HasSubstr("expected a number"));
}

TEST(ShownFileTest, HasItsViewAndNobodyToAsk) {
    ShownFile shown("a.nsc", "{}");
    std::uint64_t console = 0;
    const json status = json::parse(shown.status(console));
    EXPECT_EQ(status["state"], "file");
    EXPECT_EQ(status["commands"], false);
    EXPECT_EQ(status["view"], shown.view()->number);
    EXPECT_EQ(shown.ask({.words = {"mark"}}).status, Exit::usage);
}

}  // namespace nopscope::host::test::shown_line_test
