// SPDX-License-Identifier: Apache-2.0
// How keys change the state of `top`'s screen, and which requests they make.
#include "host-tools/views/top/ui.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::top_keys_test {

using namespace top;
using Kind = Key::Kind;

class Keys : public testing::Test {
protected:
    Keys() {
        for (int n = 0; n < 100; ++n) {
            FunctionLine& line = lines.functions.emplace_back();
            line.name = "function_" + std::to_string(n);
            line.place.address = 0x1000u + 8u * static_cast<unsigned>(n);
        }
        for (unsigned n = 0; n < 3; ++n) {
            lines.tree.push_back({.key = 70 + n,
                                  .name = "path" + std::to_string(n),
                                  .depth = n,
                                  .has_children = n < 2,
                                  .is_open = n == 0});
        }
    }
    // Types a text. Keys without a character: "{down}".
    std::optional<Act> type(const std::string& text) {
        // In the order of Key::Kind.
        constexpr std::string_view kinds[] = {
            "text", "enter", "escape", "backspace", "tab",       "up",
            "down", "left",  "right",  "page_up",   "page_down", "home",
            "end",  "help",  "quit",   "click",     "wheel_up",  "wheel_down"};
        std::optional<Act> act;
        for (std::size_t at = 0; at < text.size(); ++at) {
            Key key{Kind::text, text.substr(at, 1)};
            if (text[at] == '{') {
                const std::size_t end = text.find('}', at);
                const auto* const kind =
                    std::ranges::find(kinds, text.substr(at + 1, end - at - 1));
                key = {static_cast<Kind>(kind - kinds)};
                at = end;
            }
            act = on_key(ui, key, lines, "side.nsc");
        }
        return act;
    }
    // The requests that a prompt sends to the target.
    std::vector<std::string> asks(const std::string& text) {
        const auto act = type(text + "{enter}");
        if (!act || !std::holds_alternative<ControlRequest>(*act)) return {"(nothing)"};
        last = std::get<ControlRequest>(*act);
        return last.words;
    }
    std::size_t at() const { return lines.selected(ui); }
    // The selected line after these keys.
    std::size_t at_after(const std::string& text) {
        type(text);
        return at();
    }
    std::size_t first(std::size_t rows) {
        scroll(ui, lines, rows);
        return ui.first;
    }
    template <typename Request>
    static const Request& as(const std::optional<Act>& act) {
        return std::get<Request>(act.value());
    }

    Ui ui;
    Lines lines;
    ControlRequest last;
};

TEST_F(Keys, TheSelectionMovesAndStaysWithItsFunction) {
    EXPECT_EQ(at_after("{up}"), 0u);
    EXPECT_EQ(at_after("{down}{down}"), 2u);
    std::swap(lines.functions[2], lines.functions[50]);
    EXPECT_EQ(at(), 50u);
    EXPECT_EQ(first(10), 41u);
    EXPECT_EQ(at_after("{page_down}"), 60u);
    EXPECT_EQ(at_after("{end}"), 99u);
    EXPECT_EQ(first(10), 90u);
    EXPECT_EQ(at_after("{home}"), 0u);
    EXPECT_EQ(first(10), 0u);
    EXPECT_FALSE(ui.selected) << "the first line is whichever is first";
    lines.functions.clear();
    type("{down}{page_down}");
    EXPECT_EQ(first(10), 0u);
}

TEST_F(Keys, SearchWhileItIsTyped) {
    type("/");
    EXPECT_EQ(ui.prompt, Prompt::search);
    EXPECT_EQ(at_after("ION_7"), 7u);
    EXPECT_EQ(at_after("3"), 73u);
    type("{backspace}");
    EXPECT_EQ(ui.search, "ION_7");
    EXPECT_EQ(at_after("{enter}"), 73u);
    EXPECT_EQ(ui.prompt, Prompt::none);
    EXPECT_EQ(at_after("n"), 74u);
    EXPECT_EQ(at_after("NN"), 72u);
    type("/nothing like that");
    EXPECT_TRUE(ui.message_is_bad);
    type("{escape}");
    EXPECT_EQ(ui.search, "");
    EXPECT_EQ(ui.prompt, Prompt::none);
}

TEST_F(Keys, TheColumnBeside) {
    const auto after = [this](Column from, const std::string& keys) {
        ui.sort = from;
        type(keys);
        return ui.sort;
    };
    EXPECT_EQ(after(Column::self, ">"), Column::total);
    EXPECT_EQ(after(ui.sort, "{left}<"), Column::calls);
    EXPECT_EQ(after(Column::name, ">"), Column::now);
    EXPECT_EQ(after(ui.sort, "<I"), Column::name);
    EXPECT_TRUE(ui.reversed);
}

TEST_F(Keys, TasksAndFunctionsTakeTurns) {
    for (const auto& [keys, view] :
         {std::pair("k", View::tasks), {"k", View::functions}, {"kt", View::tree}}) {
        type(keys);
        EXPECT_EQ(ui.view, view) << keys;
    }
}

TEST_F(Keys, PathsOpenAndClose) {
    type("{tab}");
    EXPECT_EQ(ui.view, View::tree);
    const auto is_toggled_by = [this](const std::string& keys, std::uint64_t path) {
        type(keys);
        return ui.toggled.contains(path);
    };
    EXPECT_TRUE(is_toggled_by("{left}", 70));
    EXPECT_TRUE(is_toggled_by("{right}", 70)) << "the list still shows it as open";
    EXPECT_TRUE(is_toggled_by("{down}{enter}", 71));
    EXPECT_FALSE(is_toggled_by("{enter}", 71));
    EXPECT_FALSE(is_toggled_by("{end}{enter}", 72)) << "it has nothing to open";
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
    EXPECT_THAT(asks("{down}u"), ElementsAre("untrace", "function_1"));
    EXPECT_THAT(as<ControlRequest>(type("m")).words, ElementsAre("mark", "1"));
    EXPECT_THAT(as<ControlRequest>(type("m")).words, ElementsAre("mark", "2"));
    EXPECT_THAT(as<ControlRequest>(type("S")).words, ElementsAre("snapshot"));
    type("fq{escape}");
    EXPECT_EQ(ui.prompt, Prompt::none);
}

TEST_F(Keys, ARecordingOnTheSide) {
    type("r");
    EXPECT_EQ(ui.typed, "side.nsc");
    EXPECT_EQ(as<StartRecording>(type("{enter}")).path, "side.nsc");
    ui.recording = true;
    EXPECT_NO_THROW(as<StopRecording>(type("r")));
}

TEST_F(Keys, ACoreOrTasksAndBack) {
    const auto part = [this](const std::string& text) {
        const auto act = type(text + "{enter}");
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
    // The selected line after a click.
    const auto click = [this](std::size_t row, std::size_t column) {
        on_key(ui, {.kind = Kind::click, .row = row, .column = column}, lines, "");
        return at();
    };
    const auto sort_by = [&](std::size_t column) {
        click(5, column);
        return std::pair(ui.sort, ui.reversed);
    };
    EXPECT_EQ(sort_by(9), std::pair(Column::rate, false));
    EXPECT_EQ(sort_by(17), std::pair(Column::rate, true)) << "the same head again";
    EXPECT_EQ(sort_by(79), std::pair(Column::name, false));
    EXPECT_EQ(click(8, 30), 2u);
    EXPECT_EQ(click(26, 0), 2u) << "the console is there";
    EXPECT_EQ(click(2, 0), 2u) << "the meters are there";
    type("{wheel_down}");
    EXPECT_EQ(first(20), 3u);
    EXPECT_EQ(at(), 5u);
    EXPECT_EQ(click(6, 0), 3u) << "the list's line under the mouse";
    type("{wheel_up}");
    EXPECT_EQ(first(20), 0u);
    EXPECT_EQ(at(), 0u);
    ui.view = View::tree;
    EXPECT_EQ(click(7, 0), 1u);
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
    EXPECT_TRUE(std::holds_alternative<Quit>(*type("{quit}")));
    type("/a");
    EXPECT_FALSE(type("{quit}")) << "it ends what is typed";
    EXPECT_EQ(ui.prompt, Prompt::none);
}

}  // namespace nopscope::host::test::top_keys_test
