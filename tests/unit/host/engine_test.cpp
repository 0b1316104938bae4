// SPDX-License-Identifier: Apache-2.0
// The engine answers with the page's data, and with a sentence where it cannot.
#include "host-tools/views/engine/engine.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/unit/host/report_fixture.hpp"

namespace nopscope::host {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class EngineTest : public testing::Test {
protected:
    EngineTest() {
        target.hello();
        for (int n = 0; n < 4; ++n) {
            const auto outer = target.entry(1);
            target.ret(target.entry(2, 100), 50);
            target.ret(outer, 30);
        }
        target.finish();
    }
    Result<void> open(const LoadOptions& options = {.file = "a/run.nsc"},
                      const std::string& title = {}, std::optional<Symbols> image = {}) {
        return engine.open(input_of(target.bytes), options, title, std::move(image));
    }
    json ask(std::string_view question = R"({"ask":"view"})") {
        return json::parse(engine.ask(question));
    }
    std::string error(std::string_view question) {
        const json answer = ask(question);
        EXPECT_EQ(answer.size(), 1u) << answer;
        return answer.value("error", "");
    }

    test::TargetStream target;
    Engine engine;
};

TEST_F(EngineTest, TheViewIsThePagesData) {
    ASSERT_TRUE(open());
    const json view = ask();
    EXPECT_EQ(view["title"], "run.nsc");
    EXPECT_EQ(view["code"], nullptr);
    EXPECT_EQ(view["timeline"]["tracks"].size(), 1u);
    EXPECT_EQ(view["paths"]["calls"], json({0, 4, 4}));
    EXPECT_EQ(view["paths"]["total"], json({4 * 180, 4 * 180, 4 * 50}));
    EXPECT_EQ(engine.ask(R"({"ask":"view"})"), engine.view({}));
    EXPECT_THAT(engine.warnings(), testing::ElementsAre(HasSubstr("carries no symbols")));
}

TEST_F(EngineTest, TheOptionsChooseWhatIsShown) {
    ASSERT_TRUE(open({.file = "run.nsc", .part = {.time = {{}, TimePoint{.ns = 300}}}}, "a title",
                     test::symbols_of(target, {"outer", "inner"})));
    const json view = ask();
    EXPECT_EQ(view["title"], "a title");
    EXPECT_THAT(view["headline"].get<std::string>(), HasSubstr("part: ..300ns"));
    EXPECT_EQ(view["functions"][0]["name"], "outer");
    EXPECT_EQ(view["paths"]["calls"], json({0, 2, 2}));
    EXPECT_THAT(engine.warnings(), testing::IsEmpty());
}

TEST_F(EngineTest, APartIsWhatTheOptionsWouldShow) {
    ASSERT_TRUE(open());
    json view = ask(R"({"ask":"view","time":"100ns..300ns","core":0})");
    Engine other;
    const Part part{.time = {TimePoint{.ns = 100}, TimePoint{.ns = 300}}, .core = 0};
    ASSERT_TRUE(other.open(input_of(target.bytes), {.file = "a/run.nsc", .part = part}, {}));
    json same = json::parse(other.view({}));
    EXPECT_EQ(view["timeline"], nullptr);
    same["timeline"] = nullptr;
    EXPECT_EQ(view, same);
    EXPECT_NE(view["functions"], ask()["functions"]) << "the part is the whole";
    EXPECT_THAT(error(R"({"ask":"view","time":"100"})"), testing::StartsWith("--time 100: "));
    EXPECT_THAT(error(R"({"ask":"view","time":"1s..2s"})"), HasSubstr("ended at"));
    EXPECT_THAT(error(R"({"ask":"view","time":7})"), HasSubstr("is no text"));
    EXPECT_THAT(error(R"({"ask":"view","core":256})"), HasSubstr("is no whole number"));
    EXPECT_THAT(error(R"({"ask":"view","core":1})"), HasSubstr("only of 0"));
}

// The page's view may be of another engine, which had more memory or less.
TEST_F(EngineTest, FunctionsHaveThePagesNumbers) {
    ASSERT_TRUE(open());
    const auto functions = [this] {
        return ask(R"({"ask":"timeline"})")["tracks"][0]["rows"][0]["function"];
    };
    const json before = functions();
    Positions numbers = engine.functions();
    ASSERT_EQ(numbers.size(), 2u);
    std::swap(numbers.begin()->second, std::next(numbers.begin())->second);
    engine.number_functions(numbers);
    const json after = functions();
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t at = 0; at < after.size(); ++at)
        EXPECT_EQ(after[at], 1 - before[at].get<int>());
    engine.number_functions({*numbers.begin()});
    EXPECT_NE(functions(), after) << "a function that the page does not have";
}

TEST_F(EngineTest, ATimelineOfAPart) {
    ASSERT_TRUE(open());
    const json whole = ask();
    const json all = ask(R"({"ask":"timeline"})");
    EXPECT_EQ(all["tracks"], whole["timeline"]["tracks"]);
    const json part = ask(R"({"ask":"timeline","from":200,"to":210,"slots":10})");
    EXPECT_EQ(part["from"], 200);
    EXPECT_EQ(part["to"], 210);
    EXPECT_EQ(part["calls"], all["calls"]);
    EXPECT_LT(part["drawn"], all["drawn"]);
    EXPECT_EQ(part["tracks"][0]["depth"], 2);
    for (const char* const wrong :
         {R"("from":-1)", R"("from":1.5)", R"("to":0)", R"("slots":0)", R"("slots":9000)",
          R"("from":"1")", R"("from":18446744073709551615)", R"("from":10,"to":10)"}) {
        const std::string question = R"({"ask":"timeline",)" + std::string(wrong) + "}";
        EXPECT_NE(error(question), "") << wrong;
    }
}

TEST_F(EngineTest, TheCallsInTheOrderOfTheirBegins) {
    ASSERT_TRUE(open());
    const json row = ask()["timeline"]["tracks"][0]["rows"];
    const json outer = row[0]["function"][0];
    const json inner = row[1]["function"][0];
    const json all = ask(R"({"ask":"calls"})");
    EXPECT_EQ(all["calls"], 8);
    EXPECT_EQ(all["first"], 0);
    EXPECT_EQ(all["begin"], nullptr);
    EXPECT_EQ(all["from"], json({0, 100, 90, 100, 90, 100, 90, 100}));
    EXPECT_EQ(all["duration"], json({180, 50, 180, 50, 180, 50, 180, 50}));
    EXPECT_EQ(all["depth"], json({0, 1, 0, 1, 0, 1, 0, 1}));
    EXPECT_EQ(all["track"], json({0, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(all["function"], json({outer, inner, outer, inner, outer, inner, outer, inner}));
    EXPECT_EQ(all["left"], json::array());
    const json some = ask(R"({"ask":"calls","from":100,"to":290,"first":1,"count":5})");
    EXPECT_EQ(some["calls"], 2);
    EXPECT_EQ(some["from"], json({190}));
    const json behind = ask(R"({"ask":"calls","first":9})");
    EXPECT_EQ(behind["first"], 8);
    EXPECT_EQ(behind["from"], json::array());
    const auto of = [&](const json& functions) {
        return ask(json{{"ask", "calls"}, {"functions", functions}, {"count", 2}}.dump());
    };
    EXPECT_EQ(of(json::array({inner}))["calls"], 4);
    EXPECT_EQ(of(json::array({inner}))["from"], json({100, 190}));
    EXPECT_EQ(of(json::array({inner, outer}))["calls"], 8);
    EXPECT_EQ(ask(R"({"ask":"calls","tracks":[0]})")["calls"], 8);
    EXPECT_EQ(ask(R"({"ask":"calls","tracks":[1]})")["calls"], 0);
    EXPECT_THAT(error(R"({"ask":"calls","tracks":[""]})"), HasSubstr("\"tracks\" is no list"));
    EXPECT_EQ(of(json::array())["calls"], 0);
    for (const char* const wrong :
         {R"("functions":7)", R"("functions":["a"])", R"("count":5000)", R"("from":2,"to":1)",
          R"("first":-1)", R"("from":"1")", R"("to":18446744073709551615)"}) {
        const std::string question = R"({"ask":"calls",)" + std::string(wrong) + "}";
        EXPECT_NE(error(question), "") << wrong;
    }
}

TEST_F(EngineTest, ACallOfAFunction) {
    ASSERT_TRUE(open());
    const json inner = ask()["timeline"]["tracks"][0]["rows"][1]["function"][0];
    const auto call = [&](json question) {
        question.update({{"ask", "call"}, {"function", inner}});
        return ask(question.dump());
    };
    const json first = call({{"which", "next"}});
    EXPECT_EQ(first, json({{"call",
                            {{"number", 0},
                             {"from", 100},
                             {"duration", 50},
                             {"track", 0},
                             {"depth", 1},
                             {"left", "returned"}}},
                           {"calls", 4}}));
    const json place{{"track", 0}, {"depth", 1}, {"duration", 50}};
    const auto beside = [&](const char* which, int begin) {
        json question = place;
        question.update({{"which", which}, {"begin", begin}});
        return call(question)["call"];
    };
    EXPECT_EQ(beside("next", 100)["from"], 290);
    EXPECT_EQ(beside("next", 100)["number"], 1);
    EXPECT_EQ(beside("previous", 290)["from"], 100);
    EXPECT_EQ(beside("previous", 100), nullptr);
    EXPECT_EQ(beside("next", 100 + 3 * 190), nullptr);
    EXPECT_EQ(call({{"which", "next"}, {"begin", 101}})["call"]["from"], 290);
    EXPECT_EQ(call({{"which", "previous"}, {"begin", 290}})["call"]["from"], 100);
    EXPECT_EQ(call({{"which", "longest"}})["call"]["from"], 100);
    const json late = call({{"which", "shortest"}, {"from", 101}, {"to", 530}});
    EXPECT_EQ(late["call"]["from"], 290);
    EXPECT_EQ(late["call"]["number"], 0);
    EXPECT_EQ(late["calls"], 2);
    EXPECT_EQ(call({{"which", "longest"}, {"from", 101}, {"to", 339}})["call"], nullptr)
        << "it ends later";
    EXPECT_EQ(call({{"which", "next"}, {"from", 101}, {"to", 290}})["call"], nullptr);
    EXPECT_THAT(error(R"({"ask":"call","which":"longest"})"), HasSubstr("no \"function\""));
    EXPECT_THAT(error(R"({"ask":"call","function":0,"which":"worst"})"), HasSubstr("none of next"));
    EXPECT_THAT(error(R"({"ask":"call","function":0})"), HasSubstr("none of next"));
    EXPECT_EQ(ask(R"({"ask":"call","function":99,"which":"longest"})")["call"], nullptr);
}

TEST_F(EngineTest, ARecordingThatCannotBeReadIsASentence) {
    EXPECT_EQ(error(R"({"ask":"view"})"), "no recording is open");
    target.bytes = {1, 2, 3};
    const Result<void> opened = open();
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().what(), testing::StartsWith("a/run.nsc: there is no trace in it"));
    EXPECT_EQ(error(R"({"ask":"view"})"), opened.error().what());
}

TEST_F(EngineTest, AnotherImageIsRefused) {
    Symbols other = test::symbols_of(target, {"outer", "inner"});
    other.build_id = "other";
    ASSERT_FALSE(open({.file = "run.nsc"}, {}, other));
    EXPECT_THAT(error(R"({"ask":"view"})"), HasSubstr("build-id"));
}

TEST_F(EngineTest, AWrongQuestionIsASentence) {
    ASSERT_TRUE(open());
    for (const char* const wrong : {"", "{", "[]", "7", "\"view\"", R"({"ask":"\ud800"})"})
        EXPECT_EQ(error(wrong), "the question is not a JSON object") << wrong;
    for (const char* const wrong : {"{}", R"({"ask":7})", R"({"Ask":"view"})"})
        EXPECT_EQ(error(wrong), "the question has no text \"ask\"") << wrong;
    EXPECT_EQ(error(R"({"ask":"<other>"})"), "no question is named <other>");
    EXPECT_EQ(error(R"({"ask":"\u001b"})"), "no question is named \\x1b");
    EXPECT_EQ(error(std::string(1 << 20, '[')), "the question is not a JSON object");
}

}  // namespace
}  // namespace nopscope::host
