// SPDX-License-Identifier: Apache-2.0
// The text that `top` shows, without a terminal.
#include "host-tools/views/top/frame.hpp"
#include "host-tools/views/top/once.hpp"
#include "host-tools/views/top/text.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::top_test {

using namespace top;

TEST(TopText, NamesAreCutSensibly) {
    const std::string parser = "lib::detail::Parser::next_token", number = "lib::Number<int, 7>::";
    const std::tuple<std::string, std::size_t, const char*> cases[] = {
        {"main", 10, "main"},
        {"luaV_execute", 8, "luaV_e.."},
        {"std::map<int, std::vector<int>>::find", 20, "std::map<>::find"},
        {parser, 20, "..Parser::next_token"},
        {parser, 19, "..next_token"},
        {parser, 8, "next_t.."},
        {number + "operator<", 25, "lib::Number<>::operator<"},
        {number + "operator<<", 25, "lib::Number<>::operator<<"},
        {"abc", 2, "ab"},
        {"abc", 0, ""}};
    for (const auto& [name, width, expected] : cases) EXPECT_EQ(short_name(name, width), expected);
}

TEST(TopText, NumbersAreShort) {
    for (const auto& [number, text] : {std::pair(0.0, "0"),
                                       {0.25, "0.2"},
                                       {7.0, "7.0"},
                                       {812.0, "812"},
                                       {999.6, "1.00k"},
                                       {48'230.0, "48.2k"},
                                       {1.234e6, "1.23M"}}) {
        EXPECT_EQ(short_count(number), text);
    }
    EXPECT_EQ(short_count(std::uint64_t{7}), "7");
    EXPECT_EQ(short_count(std::uint64_t{48'230}), "48.2k");
    EXPECT_EQ(percent(0.1234), "12.3 %");
}

TEST(TopText, ColumnsAreTheTerminals) {
    std::setlocale(LC_CTYPE, "C.UTF-8");
    EXPECT_EQ(columns("größe"), 5u);
    EXPECT_EQ(columns("関数"), 4u);
    EXPECT_EQ(first_columns("関数", 3), "関");
    EXPECT_EQ(top::left("関数", 5), "関数 ");
    EXPECT_EQ(right("ab", 4), "  ab");
    EXPECT_EQ(top::left("abcdef", 3), "abc");
    std::setlocale(LC_CTYPE, "C");
}

class Top : public testing::Test {
protected:
    Top() { target.hello(); }
    // main calls work, and idle waits.
    void run(int rounds) {
        for (int n = 0; n < rounds; ++n) play("100:2( 50:3( 200:) 50:) 10:4( 590:) |");
    }
    // The view of what the target has sent.
    LiveView view(std::uint64_t seconds) const {
        LiveView view;
        view.profile = std::make_unique<Profile>();
        view.profile->count_durations();
        SessionReader reader(*view.profile);
        reader.feed(target.bytes);
        view.status.at = std::chrono::steady_clock::time_point(std::chrono::seconds(seconds));
        view.status.from = "unix:/tmp/target";
        view.status.state = LineState::running;
        view.status.line = reader.line();
        view.status.stream = reader.counters();
        view.status.hello = reader.hello();
        view.profile->on_session_end();
        view.target_ticks = view.profile->duration_ticks();
        for (unsigned core = 0; core < reader.hello().cores; ++core) {
            view.status.cores.push_back({.number = core,
                                         .records = reader.counters_of(core).delivered,
                                         .busy_ticks = view.profile->self_ticks_of(core, {})});
        }
        view.report = or_throw(make_report(
            *view.profile, {.file = {}, .line = view.status.line, .stream = view.status.stream},
            &symbols));
        return view;
    }
    // Takes two views, a second apart.
    void see() {
        target.entry(1);
        run(10);
        const LiveView earlier = view(1);
        run(30);
        now = view(2);
        rates = rates_between(earlier, now);
        list();
    }
    void list() {
        lines.functions = function_lines(now, rates);
        sort_lines(lines.functions, ui.sort, ui.reversed);
        lines.tree = tree_lines(now, ui.toggled);
    }
    std::string drawn(Size size = {24, 110}) { return text_of(draw(ui, lines, now, rates, size)); }
    // The functions in this order.
    std::vector<std::string> sorted(Column by, bool reversed = false) {
        ui.sort = by;
        ui.reversed = reversed;
        list();
        std::vector<std::string> names;
        for (const FunctionLine& line : lines.functions) names.push_back(line.name);
        return names;
    }

    TargetStream target;
    Play<TargetStream> play{target};
    Symbols symbols = symbols_of(target, {"main", "app::work", "app::part", "idle"});
    LiveView now;
    Rates rates;
    Lines lines;
    Ui ui;
};

// Each of these is in the text.
void expect_in(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) EXPECT_THAT(text, HasSubstr(part));
}

TEST_F(Top, FunctionsHaveTheReportsNumbersAndRates) {
    see();
    const FunctionLine& idle = lines.functions.at(0);
    EXPECT_EQ(idle.self_ns, 40u * 590);
    EXPECT_GE(*idle.p50_ns, 590u);
    EXPECT_LE(*idle.p50_ns, 590u * 5 / 4);
    const FunctionLine& main = named(lines.functions, "main");
    EXPECT_EQ(main.open, 1u);
    EXPECT_EQ(main.total_ns, 40u * 1000);
    EXPECT_FALSE(main.p50_ns) << "it never returned";
}

TEST_F(Top, AnyColumnSorts) {
    see();
    const std::vector<std::string> by_name{"app::part", "app::work", "idle", "main"};
    EXPECT_THAT(sorted(Column::total), ElementsAre("main", "idle", "app::work", "app::part"));
    EXPECT_EQ(sorted(Column::total, true), by_name);
    EXPECT_EQ(sorted(Column::name), by_name);
    EXPECT_EQ(sorted(Column::p99).front(), "idle");
    EXPECT_EQ(sorted(Column::p99).back(), "main");
    EXPECT_EQ(column_named("CALLS/S"), Column::rate);
    EXPECT_THROW(column_named("weight"), Error);
}

TEST_F(Top, TheTreeOpensAndCloses) {
    see();
    const auto paths = [this] {
        std::string text;
        for (const TreeLine& line : lines.tree)
            text += std::to_string(line.depth) + line.name + " ";
        return text;
    };
    EXPECT_EQ(paths(), "0main 1idle 1app::work 2app::part ");
    EXPECT_DOUBLE_EQ(lines.tree[0].share, 1);
    EXPECT_NEAR(lines.tree[3].share, 0.2, 1e-9);
    const std::uint64_t work = lines.tree[2].key;
    ui.toggled.insert(work);
    run(1);
    now = view(3);
    list();
    EXPECT_EQ(paths(), "0main 1idle 1app::work ");
    EXPECT_EQ(lines.tree[2].key, work);
    EXPECT_FALSE(lines.tree[2].is_open);
}

TEST_F(Top, AFrameHasEverything) {
    see();
    now.status.console = "boot\nready \x1b[2J\n";
    const std::string text = drawn();
    for (const char* const part :
         {"^nopscope  running  demo on virt  unix:/tmp/target\n",
          "core 0 +\\[\\|+ *100 %\\] +180 records/s\n",
          "line +\\[.* %\\] .*B/s +180 records/s  dropped 0  lost 0  gaps 0  corrupt 0",
          "now +calls/s +calls +self +total +share +p50 +p99 +function",
          "59.0 % +30 +40 +23.6 us +23.6 us +[0-9.]+ % +[0-9]+ ns +[0-9]+ ns +idle  src/main.c:10"})
        EXPECT_THAT(text, ContainsRegex(part));
    expect_in(text, {"\nconsole\nboot\nready \\x1b[2J\n", "? help"});
    ui.view = View::tree;
    EXPECT_THAT(drawn(), ContainsRegex("30.0 % .* - app::work"));
    ui.help = true;
    EXPECT_THAT(drawn(), HasSubstr("ask anything that"));
}

TEST_F(Top, TheTasks) {
    TaskFacts worker = facts(1, "worker");
    worker.stack_bytes = 4096;
    worker.stack_used = 1024;
    target.tasks(worker, facts(2, "idle"));
    play("10:c1p 300:c2p 100:c1p |");
    const LiveView earlier = view(1);
    play("600:c2p 1400:c1p |");
    now = view(2);
    rates = rates_between(earlier, now);
    lines.tasks = task_rows(now, rates);
    ui.view = View::tasks;
    const std::string text = drawn({24, 130});
    EXPECT_THAT(text, HasSubstr("k tasks"));
    EXPECT_THAT(text, ContainsRegex(
                          "now +CPU +share +runs +preempt. +blocked +ready +longest +stack +task"));
    EXPECT_THAT(text, ContainsRegex("70.0 % +1.50 us +62.5 % +2 +2 +0 +600 ns +600 ns +- +idle\n"));
    EXPECT_THAT(
        text, ContainsRegex("30.0 % +900 ns +37.5 % +3 +2 +0 +1.50 us +1.40 us +25.0 % +worker\n"));
    EXPECT_THAT(drawn({24, 60}), HasSubstr("share     runs  task\n"));
    const json task = json::parse(json_once({}, now, rates, 0))["tasks"][0];
    EXPECT_EQ(task["name"], "idle");
    EXPECT_DOUBLE_EQ(task["now"], 0.7);
    lines.tasks.clear();
    EXPECT_THAT(drawn(), HasSubstr("the target has told of no task yet"));
}

TEST_F(Top, FaultsAreSaid) {
    see();
    now.status.state = LineState::lost;
    now.status.sentence = "cannot connect to /tmp/target: Connection refused";
    now.status.resets = 2;
    now.status.losses = 1;
    now.status.stream.dropped = 12'345;
    now.status.recording.path = "x.nsc";
    now.status.recording.error = "cannot write x.nsc: No space left on device";
    expect_in(drawn(), {"line lost, trying again  2 resets  1 line loss", "Connection refused",
                        "dropped 12.3k", "No space left"});
    now.status.recording = {"y.nsc", true, 1, 1, 1234, {}};
    EXPECT_THAT(drawn(), HasSubstr("recording  y.nsc  1,234 records"));
}

TEST_F(Top, BeforeAnythingIsHeard) {
    now.status.from = "serial:/dev/ttyUSB0";
    now.status.sentence = "nothing has come yet";
    expect_in(drawn(), {"waiting  serial:/dev/ttyUSB0", "nothing has come yet"});
}

void expect_fits(const Frame& frame, std::size_t rows, std::size_t width) {
    ASSERT_EQ(frame.lines.size(), rows);
    for (const FrameLine& line : frame.lines) {
        std::size_t has = 0;
        for (const Span& span : line) {
            has += columns(span.text);
            for (const char each : span.text) ASSERT_GE(static_cast<unsigned char>(each), 0x20);
        }
        ASSERT_LE(has, width);
    }
    if (!frame.has_cursor) return;
    ASSERT_LT(frame.cursor_row, rows);
    ASSERT_LT(frame.cursor_column, width);
}

TEST_F(Top, FitsInAnyTerminal) {
    symbols = symbols_of(target, {"main\n\x1b[31m", "関数関数関数関数関数関数関数関数関数関数",
                                  std::string(300, 'x'), ""});
    see();
    now.status.console = std::string(5000, 'y') + "\n" + std::string(100, '\t') + "\n\xff\xfe\n";
    now.status.note = std::string(500, 'n');
    for (const std::size_t rows : {1u, 2u, 3u, 5u, 8u, 13u, 24u, 60u}) {
        for (const std::size_t width : {1u, 2u, 7u, 16u, 24u, 40u, 80u, 200u}) {
            for (int variant = 0; variant < 6; ++variant) {
                ui.view = variant % 2 == 0 ? View::functions : View::tree;
                ui.help = variant == 4;
                ui.prompt = variant == 5 ? Prompt::verb : Prompt::none;
                ui.verb = &verbs().front();
                ui.typed = std::string(300, 't');
                ui.console = static_cast<unsigned>(variant % 3);
                ui.sort = all_columns[variant];
                ui.selected = lines.functions.back().place.address;
                SCOPED_TRACE(fmt::format("{} x {}, variant {}", rows, width, variant));
                expect_fits(draw(ui, lines, now, rates, {rows, width}), rows, width);
                if (HasFatalFailure()) return;
            }
        }
    }
}

// Without spaces at the begin of lines: what is wrapped is one text again.
std::string unwrapped(const std::string& text) {
    std::string out;
    for (const char each : text) {
        const char c = each == '\n' ? ' ' : each;
        if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
    }
    return out;
}

TEST_F(Top, AScreenOf80By24CutsNothing) {
    see();
    now.status.stream.dropped = 123'456;
    now.status.stream.lost = 77'777;
    now.status.line.corrupt_frames = 12;
    now.status.resets = 3;
    now.status.part = "core 1";
    now.status.begin = {.number = 2, .at = now.status.at - 12s, .time = {}, .request = "zero"};
    now.status.sentence = "the line was lost: " + std::string(20, 'w') + " " + std::string(60, 'x');
    const Size size{24, 80};
    const std::string meters = unwrapped(drawn(size));
    expect_in(meters,
              {"dropped 123k lost 77.8k gaps 0 corrupt 12", "figures only core 1 since ",
               "(12 s ago: zero)", std::string(20, 'w') + " " + std::string(60, 'x'), "q quit"});
    ui.message = "trace x: not done: " + std::string(70, 'y') + " " + std::string(70, 'z');
    EXPECT_THAT(unwrapped(drawn(size)), HasSubstr(unwrapped(ui.message)));
    ui.message.clear();
    for (const Prompt prompt : {Prompt::recorder, Prompt::core, Prompt::task, Prompt::ask}) {
        ui.prompt = prompt;
        EXPECT_THAT(unwrapped(drawn(size)), HasSubstr(unwrapped(prompt_hint(ui))));
    }
    ui.prompt = Prompt::none;
    ui.help = true;
    const std::string help = unwrapped(drawn(size));
    for (const KeyHelp& each : key_help()) expect_in(help, {each.keys + " ", each.does});
    EXPECT_FALSE(ui.help_goes_on) << "it is one page";
}

TEST_F(Top, AHelpThatDoesNotFitHasPages) {
    see();
    ui.help = true;
    std::string all;
    for (unsigned pages = 0; ui.help && pages < 10; ++pages) {
        all += drawn({10, 80});
        if (ui.help_goes_on) EXPECT_THAT(all, HasSubstr("space: more"));
        on_key(ui, {Key::Kind::text, " "}, lines, "");
    }
    EXPECT_FALSE(ui.help);
    for (const KeyHelp& each : key_help()) EXPECT_THAT(unwrapped(all), HasSubstr(each.keys + " "));
}

TEST_F(Top, TheMouseFindsTheHead) {
    see();
    const auto shown = drawn({24, 80});
    ASSERT_TRUE(ui.head_row);
    std::istringstream text(shown);
    std::string head;
    for (std::size_t row = 0; row <= *ui.head_row; ++row) std::getline(text, head);
    for (const Ui::HeadEnd& each : ui.head_ends) {
        if (each.column == Column::name) continue;
        const std::string name = head_of(each.column);
        EXPECT_EQ(head.substr(each.end - 1 - name.size(), name.size()), name);
    }
}

TEST_F(Top, OnceAsTextAndAsJson) {
    see();
    EXPECT_THAT(text_of(draw_once(lines, now, rates, Column::now, 2, 110)),
                AllOf(HasSubstr("idle"), Not(HasSubstr("app::work")), Not(HasSubstr("? help"))));
    const auto once = [&](std::size_t most) {
        return json::parse(json_once(lines.functions, now, rates, most));
    };
    const json all = once(0);
    EXPECT_EQ(json({all["state"], all["image"]["name"]}), json({"running", "demo"}));
    ASSERT_EQ(all["functions"].size(), 4u);
    const json& idle = all["functions"][0];
    EXPECT_EQ(json({idle["name"], idle["calls"], idle["calls_per_second"]}),
              json({"idle", 40, 30}));
    EXPECT_EQ(json({all["cores"][0]["records"], all["integrity"]["delivered"]}), json({241, 241}));
    EXPECT_EQ(once(1)["functions"].size(), 1u);
}

}  // namespace nopscope::host::test::top_test
