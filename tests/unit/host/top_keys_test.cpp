// SPDX-License-Identifier: Apache-2.0
// How keys change the state of `top`'s screen, and which requests they make.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host-tools/views/top/ui.hpp"

namespace nopscope::host::top {
namespace {

using testing::ElementsAre;
using Kind = Key::Kind;

class Keys : public testing::Test {
protected:
    Keys() {
        for (int n = 0; n < 100; ++n) {
            FunctionLine line;
            line.name = "function_" + std::to_string(n);
            line.place.address = 0x1000u + 8u * static_cast<unsigned>(n);
            lines.functions.push_back(line);
        }
        for (unsigned n = 0; n < 3; ++n) {
            lines.tree.push_back({.key = 70 + n,
                                  .name = "path" + std::to_string(n),
                                  .depth = n,
                                  .has_children = n < 2,
                                  .is_open = n == 0});
        }
    }
    std::optional<Act> press(Kind kind) { return on_key(ui, {kind}, lines, "side.nsc"); }
    std::optional<Act> type(const std::string& text) {
        std::optional<Act> act;
        for (const char each : text)
            act = on_key(ui, {Kind::text, std::string(1, each)}, lines, "side.nsc");
        return act;
    }
    // The requests that a prompt sends to the target.
    std::vector<std::string> asks(const std::string& text) {
        type(text);
        const auto act = press(Kind::enter);
        if (!act || !std::holds_alternative<ControlRequest>(*act)) return {"(nothing)"};
        last = std::get<ControlRequest>(*act);
        return last.words;
    }
    std::size_t at() const { return lines.selected(ui); }

    Ui ui;
    Lines lines;
    ControlRequest last;
};

TEST_F(Keys, TheSelectionMovesAndStaysWithItsFunction) {
    press(Kind::up);
    EXPECT_EQ(at(), 0u);
    press(Kind::down);
    press(Kind::down);
    EXPECT_EQ(at(), 2u);
    std::swap(lines.functions[2], lines.functions[50]);
    EXPECT_EQ(at(), 50u);
    scroll(ui, lines, 10);
    EXPECT_EQ(ui.first, 41u);
    press(Kind::page_down);
    EXPECT_EQ(at(), 60u);
    press(Kind::end);
    EXPECT_EQ(at(), 99u);
    scroll(ui, lines, 10);
    EXPECT_EQ(ui.first, 90u);
    press(Kind::home);
    scroll(ui, lines, 10);
    EXPECT_EQ(at(), 0u);
    EXPECT_EQ(ui.first, 0u);
    EXPECT_FALSE(ui.selected) << "the first line is whichever is first";
    lines.functions.clear();
    press(Kind::down);
    press(Kind::page_down);
    scroll(ui, lines, 10);
    EXPECT_EQ(ui.first, 0u);
}

TEST_F(Keys, SearchWhileItIsTyped) {
    type("/");
    EXPECT_EQ(ui.prompt, Prompt::search);
    type("ION_7");
    EXPECT_EQ(at(), 7u);
    type("3");
    EXPECT_EQ(at(), 73u);
    press(Kind::backspace);
    EXPECT_EQ(ui.search, "ION_7");
    press(Kind::enter);
    EXPECT_EQ(ui.prompt, Prompt::none);
    EXPECT_EQ(at(), 73u);
    type("n");
    EXPECT_EQ(at(), 74u);
    type("NN");
    EXPECT_EQ(at(), 72u);
    type("/nothing like that");
    EXPECT_TRUE(ui.message_is_bad);
    press(Kind::escape);
    EXPECT_EQ(ui.search, "");
    EXPECT_EQ(ui.prompt, Prompt::none);
}

TEST_F(Keys, TheColumnBeside) {
    ui.sort = Column::self;
    type(">");
    EXPECT_EQ(ui.sort, Column::total);
    press(Kind::left);
    type("<");
    EXPECT_EQ(ui.sort, Column::calls);
    ui.sort = Column::name;
    type(">");
    EXPECT_EQ(ui.sort, Column::now);
    type("<I");
    EXPECT_EQ(ui.sort, Column::name);
    EXPECT_TRUE(ui.reversed);
}

TEST_F(Keys, TasksAndFunctionsTakeTurns) {
    type("k");
    EXPECT_EQ(ui.view, View::tasks);
    type("k");
    EXPECT_EQ(ui.view, View::functions);
    type("kt");
    EXPECT_EQ(ui.view, View::tree);
}

TEST_F(Keys, PathsOpenAndClose) {
    press(Kind::tab);
    EXPECT_EQ(ui.view, View::tree);
    press(Kind::left);
    EXPECT_TRUE(ui.toggled.contains(70));
    press(Kind::right);  // the list still shows it as open
    EXPECT_TRUE(ui.toggled.contains(70));
    press(Kind::down);
    press(Kind::enter);
    EXPECT_TRUE(ui.toggled.contains(71));
    press(Kind::enter);
    EXPECT_FALSE(ui.toggled.contains(71));
    press(Kind::end);
    press(Kind::enter);
    EXPECT_FALSE(ui.toggled.contains(72)) << "it has nothing to open";
}

TEST_F(Keys, EachKeyOfTheTableOfVerbsAsksForItsVerb) {
    std::size_t count = 0;
    for (const Verb& verb : verbs()) {
        if (verb.key == '\0') continue;
        ++count;
        ui = Ui{};
        const auto act = type(std::string(1, verb.key));
        if (act) {
            EXPECT_EQ(std::get<ControlRequest>(*act).words[0], verb.name);
        } else {
            EXPECT_EQ(ui.prompt, Prompt::verb) << verb.name;
            EXPECT_EQ(ui.verb, &verb) << verb.name;
        }
    }
    EXPECT_GE(count, 5u);
}

TEST_F(Keys, RequestsToTheTarget) {
    EXPECT_THAT(asks("fluaV_* main"), ElementsAre("trace", "luaV_*", "main"));
    EXPECT_THAT(asks("Rprofile"), ElementsAre("trace", "luaV_*", "main"));
    EXPECT_EQ(last.recorder, "profile");
    EXPECT_THAT(asks("f"), ElementsAre("trace", "*"));
    EXPECT_EQ(last.recorder, "profile") << "it stays chosen";
    EXPECT_THAT(asks("Mflight"), ElementsAre("mode", "flight"));
    EXPECT_THAT(asks(":depth 3"), ElementsAre("depth", "3"));
    EXPECT_THAT(asks(":"), ElementsAre("(nothing)"));
    press(Kind::down);
    EXPECT_THAT(asks("u"), ElementsAre("untrace", "function_1"));
    const auto words = [](const std::optional<Act>& act) {
        return std::get<ControlRequest>(*act).words;
    };
    EXPECT_THAT(words(type("m")), ElementsAre("mark", "1"));
    EXPECT_THAT(words(type("m")), ElementsAre("mark", "2"));
    EXPECT_THAT(words(type("S")), ElementsAre("snapshot"));
    type("f");
    type("q");
    press(Kind::escape);
    EXPECT_EQ(ui.prompt, Prompt::none);
}

TEST_F(Keys, ARecordingOnTheSide) {
    type("r");
    EXPECT_EQ(ui.typed, "side.nsc");
    const auto started = press(Kind::enter);
    EXPECT_EQ(std::get<StartRecording>(*started).path, "side.nsc");
    ui.recording = true;
    EXPECT_TRUE(std::holds_alternative<StopRecording>(*type("r")));
}

TEST_F(Keys, ACoreOrTasksAndBack) {
    const auto part = [this](const std::string& text) {
        type(text);
        const auto act = press(Kind::enter);
        return act ? part_text(std::get<ShowPart>(*act).part) : "(nothing)";
    };
    EXPECT_EQ(part("C2"), "core 2");
    EXPECT_EQ(part("T1*"), "task 1*");
    ui.part.core = 2;
    EXPECT_EQ(part("T1*"), "core 2, task 1*");
    EXPECT_EQ(part("C"), "");
    EXPECT_EQ(part("Cx"), "(nothing)");
    EXPECT_TRUE(ui.message_is_bad);
}

TEST_F(Keys, TheMouse) {
    scroll(ui, lines, 20);
    ui.head_row = 5;
    ui.head_ends = {{9, Column::now}, {18, Column::rate}, {80, Column::name}};
    const auto click = [this](std::size_t row, std::size_t column) {
        on_key(ui, {.kind = Kind::click, .row = row, .column = column}, lines, "");
    };
    click(5, 9);
    EXPECT_EQ(ui.sort, Column::rate);
    EXPECT_FALSE(ui.reversed);
    click(5, 17);
    EXPECT_TRUE(ui.reversed) << "the same head again";
    click(5, 79);
    EXPECT_EQ(ui.sort, Column::name);
    EXPECT_FALSE(ui.reversed);
    click(8, 30);
    EXPECT_EQ(at(), 2u);
    click(26, 0);
    EXPECT_EQ(at(), 2u) << "the console is there";
    click(2, 0);
    EXPECT_EQ(at(), 2u) << "the meters are there";
    press(Kind::wheel_down);
    scroll(ui, lines, 20);
    EXPECT_EQ(at(), 5u);
    EXPECT_EQ(ui.first, 3u);
    click(6, 0);
    EXPECT_EQ(at(), 3u) << "the list's line under the mouse";
    press(Kind::wheel_up);
    scroll(ui, lines, 20);
    EXPECT_EQ(ui.first, 0u);
    EXPECT_EQ(at(), 0u);
    ui.view = View::tree;
    click(7, 0);
    EXPECT_EQ(at(), 1u);
    EXPECT_FALSE(ui.toggled.contains(71));
    click(7, 0);
    EXPECT_TRUE(ui.toggled.contains(71)) << "a second click opens its path";
    type("s");
    EXPECT_FALSE(ui.mouse);
}

TEST_F(Keys, HelpPauseAndQuit) {
    type("?");
    EXPECT_TRUE(ui.help);
    EXPECT_FALSE(type("q")) << "any key leaves the help";
    EXPECT_FALSE(ui.help);
    type("p");
    EXPECT_TRUE(ui.paused);
    type(" cc");
    EXPECT_FALSE(ui.paused);
    EXPECT_EQ(ui.console, 0u);
    EXPECT_TRUE(std::holds_alternative<Quit>(*type("q")));
    EXPECT_TRUE(std::holds_alternative<Quit>(*press(Kind::quit)));
    type("/a");
    EXPECT_FALSE(press(Kind::quit)) << "it ends what is typed";
    EXPECT_EQ(ui.prompt, Prompt::none);
}

}  // namespace
}  // namespace nopscope::host::top
