// SPDX-License-Identifier: Apache-2.0
// The host's client against the target's control code, over a line that loses bytes both ways.
#include "host-tools/command/client.hpp"
#include "host-tools/command/verbs.hpp"
#include "host-tools/image/function_names.hpp"
#include "tests/unit/host/test.hpp"
#include "tests/verification/simulator/control_target.hpp"

namespace nopscope::host::test::control_client_test {

using testing::ControlTarget;
using Clock = std::chrono::steady_clock;

class LossyLine final : public Source {
public:
    LossyLine(std::uint64_t seed, double loss) : random_(seed), loss_(loss) {}

    Result read(std::span<std::uint8_t>, std::chrono::milliseconds) override { return {}; }
    void write(std::span<const std::uint8_t> bytes) override {
        ++writes;
        testing::Bytes arrived;
        std::copy_if(bytes.begin(), bytes.end(), std::back_inserter(arrived),
                     [this](std::uint8_t) { return !loses(); });
        if (works()) target.send(arrived);
    }
    void set_baud(std::uint32_t baud) override { rate_ = baud; }
    std::uint32_t baud() const override { return rate_; }

    // One round: runs the target's pump, for which 100 ms are a second, and sends.
    bool turn() {
        target.now = offset + static_cast<std::uint64_t>((Clock::now() - start_) / 100us);
        target.run();
        for (const testing::SentReply& sent : target.sent) {
            bool whole = works();
            for (std::size_t i = 0; i < 20; ++i) whole = whole && !loses();
            if (whole) {
                client->on_reply(
                    {sent.number, sent.what, sent.answer, sent.result.data(), sent.result.size()});
            }
        }
        target.sent.clear();
        return true;
    }
    // False if the two sides have different rates, or the line cannot carry this one.
    bool works() const { return target.rate == rate_ && (highest == 0 || rate_ <= highest); }

    ControlTarget target;
    CommandClient* client = nullptr;
    std::uint32_t highest = 0;
    std::uint64_t offset = 0;  // added to the target's clock
    std::uint64_t writes = 0;

private:
    bool loses() { return std::uniform_real_distribution<>(0, 1)(random_) < loss_; }
    std::mt19937_64 random_;
    double loss_;
    const Clock::time_point start_ = Clock::now();
    std::uint32_t rate_ = 3000000;
};

struct Host {
    explicit Host(std::uint64_t seed = 1, double loss = 0)
        : line(seed, loss), client(line, [this] { return line.turn(); }) {
        line.client = &client;
        client.set_patience({.answer = 1ms, .attempts = 200, .hello = 50ms, .trial = 5ms});
        client.on_session(testing::target_session);
    }
    LossyLine line;
    CommandClient client;
};

TEST(CommandClient, DoesEachCommandOnceAndInOrderWhateverIsLost) {
    std::uint64_t repeated = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        Host host(seed, 0.01);
        for (std::uint8_t id = 0; id < 100; ++id) {
            const std::uint8_t arguments[] = {id};
            host.client.request(Command::mark, arguments);
            ASSERT_EQ(host.line.target.done.size(), id + 1u);
            EXPECT_EQ(host.line.target.done.back().value, id);
        }
        repeated += host.line.writes - 101;  // a ping asks for the last number
    }
    EXPECT_GT(repeated, 20u);
}

class OneHost : public ::testing::Test, protected Host {};

TEST_F(OneHost, ASecondOneGoesOnFromTheLastNumber) {
    client.request(Command::start);
    CommandClient other(line, [&] { return line.turn(); });
    other.on_session(testing::target_session);
    line.client = &other;
    other.request(Command::stop);
    EXPECT_EQ(line.target.done.size(), 2u);
    EXPECT_EQ(line.target.refused(), 0u);
}

std::string complaint_of(Host& host, Command what) {
    return test::error_of([&] { host.client.request(what); }).what();
}
// The patience of a client that has little.
CommandClient::Patience with_hello_in(std::chrono::milliseconds time) {
    return {.answer = 1ms, .attempts = 3, .hello = time, .hello_behind = 4 * time, .trial = 5ms};
}

// For every answer: the sentence says that nothing was changed or that a part was done, never both.
TEST(CommandClient, SaysWhyATargetRefusesAndWhatWasDone) {
    using protocol::Answer;
    for (unsigned n = 0; n <= protocol::answer_count; ++n) {
        const auto answer = static_cast<Answer>(n);
        EXPECT_GT(std::string(describe(answer)).size(), 1u);
        if (n == 0 || n == protocol::answer_count || answer == Answer::timeout ||
            answer == Answer::partly) {
            continue;
        }
        Host host;
        host.line.target.says = answer;
        EXPECT_THAT(complaint_of(host, Command::start), HasSubstr(describe(answer))) << n;
        host.line.target.says = Answer::partly;
        host.line.target.refused_rest = answer;
        EXPECT_THAT(complaint_of(host, Command::start),
                    AllOf(HasSubstr(describe(answer)), Not(HasSubstr("nothing was changed")),
                          HasSubstr("what came before that part is done")))
            << n;
    }
    Host host;
    host.line.target.says = Answer::unsupported;
    EXPECT_THAT(complaint_of(host, Command::set_mode), HasSubstr("make no sense"));  // no arguments
    EXPECT_THAT(complaint_of(host, Command::start), HasSubstr("does not offer this"));
    host.line.target.says = Answer::conflict;
    EXPECT_THAT(complaint_of(host, Command::start), HasSubstr("nothing was changed"));
}

TEST_F(OneHost, GivesUpOnATargetThatDoesNotAnswer) {
    line.highest = 1;
    client.set_patience(with_hello_in(5ms));
    EXPECT_THAT(complaint_of(*this, Command::start), HasSubstr("does not answer commands"));
    CommandClient deaf(line, [&] { return line.turn(); });
    deaf.set_patience(with_hello_in(5ms));
    EXPECT_THROW(deaf.request(Command::start), Error);  // no hello came
}

// A debug probe delivers the target's buffered bytes before any new ones.
TEST_F(OneHost, WaitsForAHelloBehindOtherFrames) {
    std::uint64_t frames = 0;
    const auto begin = Clock::now();
    CommandClient behind(line, [&] {
        behind.on_frames(++frames);
        if (Clock::now() - begin > 700ms) behind.on_session(testing::target_session);
        return line.turn();
    });
    // On a busy machine this process may wait for a tenth of a second.
    behind.set_patience({.answer = 1ms, .attempts = 3, .hello = 300ms, .hello_behind = 10s});
    behind.wait_for_target();
    CommandClient endless(line, [&] {
        endless.on_frames(++frames);
        return true;
    });
    endless.set_patience(with_hello_in(5ms));
    EXPECT_THROW(endless.wait_for_target(), Error);
}

TEST_F(OneHost, ANewRateIsKeptWhenItWorks) {
    client.set_baud(115200);
    EXPECT_EQ(line.baud(), 115200u);
    line.offset = 100 * ControlTarget::hz;
    client.request(Command::start);
    EXPECT_EQ(line.target.rate, 115200u);
}

TEST_F(OneHost, ARateThatDoesNotWorkIsGivenUpByBoth) {
    line.highest = 3000000;
    client.set_patience({.answer = 1ms, .attempts = 200, .hello = 50ms, .trial = 500ms});
    const auto rate = line.baud();
    EXPECT_THAT(test::error_of([&] { client.set_baud(4000000); }).what(),
                HasSubstr("back at the rate before"));
    EXPECT_EQ(line.target.rate, rate);
    EXPECT_EQ(line.baud(), rate);
}

Function function(const char* name, const char* linkage = "", std::uint64_t size = 8) {
    return {0, size, name, "", 0, true, std::vector<std::string>(*linkage != 0, linkage)};
}
Symbols symbols() {
    Symbols all;
    all.origin = "a.elf";
    all.sites = {
        function("luaV_execute", "", 4000), function("luaV_lessthan"), function("main"),
        function("lua::call(int, void (*)(int))", "_ZN3lua4callEiPFviE"),
        function("(anonymous namespace)::helper(int) const", "_ZNK12_GLOBAL__N_16helperEi")};
    return all;
}

TEST(Choice, AGlobIsOfAnyOfAFunctionsNames) {
    const Function call = symbols().sites[3];
    for (const char* glob : {"lua::call", "lua::call(int, void (*)(int))", "_ZN3lua4callEiPFviE",
                             "lua::*", "*call", "lua::c?ll", "*"})
        EXPECT_TRUE(names_function(glob, call)) << glob;
    for (const char* glob : {"lua", "lua::call(", "call", "lua::call?", ""})
        EXPECT_FALSE(names_function(glob, call)) << glob;
    EXPECT_TRUE(names_function("(anonymous namespace)::helper(int)*", symbols().sites[4]));
}

TEST(Choice, ACloneIsFoundByItsNameInTheSource) {
    for (const auto& [glob, name, linkage] : {
             std::tuple{"parse", "parse.constprop.0", ""},
             {"parse", "parse.part.0.isra.1", ""},
             {"parse.constprop.0", "parse.constprop.0", ""},
             {"parse", "parse.llvm.123", ""},
             {"ns::parse", "ns::parse(int) [clone .constprop.0]", "_ZN2ns5parseEi.constprop.0"},
             {"ns::parse(int)", "ns::parse(int) [clone .isra.0]", "_ZN2ns5parseEi.isra.0"},
             {"_ZN2ns5parseEi", "ns::parse(int) [clone .isra.0]", "_ZN2ns5parseEi.isra.0"},
         })
        EXPECT_TRUE(names_function(glob, function(name, linkage))) << glob << " " << name;
    for (const char* other : {"parse.c", "parser", "parse.0", "xparse.constprop.0"})
        EXPECT_FALSE(names_function("parse", function(other))) << other;
}

TEST(Choice, FiltersLessNotraceLessSmallOnes) {
    using Bits = std::vector<bool>;
    EXPECT_EQ(choose(symbols(), {}), (Bits{1, 1, 1, 1, 1}));
    EXPECT_EQ(choose(symbols(), {{"luaV_*", "main"}, {}, {}}), (Bits{1, 1, 1, 0, 0}));
    EXPECT_EQ(choose(symbols(), {{"luaV_*"}, {"*lessthan"}, {}}), (Bits{1, 0, 0, 0, 0}));
    EXPECT_EQ(choose(symbols(), {{}, {}, 8}), (Bits{1, 0, 0, 0, 0}));
    // A glob that names nothing is an error.
    for (const Choice& wrong :
         {Choice{{"luaX_*"}, {}, {}}, {{}, {"luaX_*"}, {}}, {{"main"}, {"main"}, {}}})
        EXPECT_THROW(choose(symbols(), wrong), Error);
}

TEST(Choice, RangesSelectOnTheTargetWhatWasChosen) {
    std::mt19937_64 random(3);
    for (const unsigned density : {0u, 1u, 50u, 99u, 100u}) {
        std::vector<bool> chosen(20000);
        for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = random() % 100 < density;
        ControlTarget target;
        target.sites = static_cast<std::uint32_t>(chosen.size());
        std::uint32_t number = 0;
        for (const auto& payload : range_payloads(chosen)) {
            ASSERT_LT(payload.size(), protocol::max_command_bytes);
            ASSERT_EQ(target.ask(++number, Command::select_add, payload).answer,
                      protocol::Answer::ok);
        }
        for (std::uint32_t i = 0; i < chosen.size(); ++i)
            ASSERT_EQ(target.selected().has(i), chosen[i]) << i;
    }
}

TEST(ControlRequest, WordsThatMakeNoSenseAreRefusedBeforeTheLineIsOpened) {
    const auto request = [](const std::string& line) {
        std::istringstream words(line);
        return ControlRequest{.words = {std::istream_iterator<std::string>(words), {}}};
    };
    for (const char* const bad :
         {"", "fly", "start 1", "mark x", "mark 33554432", "depth", "depth -1",
          "min-duration 10parsecs", "min-duration -1ms", "sample 1/0", "sample 2/3", "mode fast",
          "baud 0", "baud 99999999999", "untrace", "reset now"})
        EXPECT_THROW(check(request(bad)), Error) << bad;
    for (const char* const bad : {"x8 f", "a8 f", "x f", "a0,,a1 f", "v0 f", "x1"})
        EXPECT_THROW(check(request(std::string("capture ") + bad)), Error) << bad;
    for (const char* const good :
         {"mark", "mark 7", "min-duration 1.5ms", "sample 1/100", "sample 3", "trace", "trace a b",
          "only", "capture x0,7,result f", "capture a0,a7 f", "baud 3000000"})
        EXPECT_NO_THROW(check(request(good))) << good;
}

// Each verb with a number: its command's largest number, and the next one.
TEST(ControlRequest, ANumberThatItsCommandDoesNotTakeIsRefused) {
    const std::map<std::string, Command> verbs{{"mark", Command::mark},
                                               {"snapshot", Command::snapshot},
                                               {"depth", Command::set_depth},
                                               {"sample", Command::set_sample},
                                               {"baud", Command::set_baud}};
    for (const auto& [verb, what] : verbs) {
        const std::uint64_t most = protocol::most_argument(what);
        EXPECT_NO_THROW(check({.words = {verb, std::to_string(most)}})) << verb;
        for (const std::string& more : {std::to_string(most + 1), std::string("4294967296"),
                                        std::string("18446744073709551616"), std::string("-1")}) {
            const Error error = test::error_of([&] { check({.words = {verb, more}}); });
            EXPECT_THAT(error.what(), HasSubstr(std::to_string(most))) << verb << " " << more;
        }
    }
}
TEST_F(OneHost, RefusesAShortestDurationThatTheClockDoesNotReach) {
    const auto done = [&](std::uint64_t clock_hz) {
        HelloInfo hello;
        hello.clock_hz = clock_hz;
        return perform({.words = {"min-duration", "2s"}}, {client, nullptr, hello}).text;
    };
    EXPECT_THROW(done(std::uint64_t{1} << 62), Error);
    EXPECT_TRUE(line.target.done.empty());
    EXPECT_EQ(done(1'000'000'000), "recording calls of 2000000000 ticks and more");
}
// The names of the other architecture's are refused before anything is asked.
TEST_F(OneHost, CapturesTheRegistersOfTheTargetsArchitecture) {
    const auto said = [&](protocol::Architecture of, const char* what) {
        HelloInfo hello;
        hello.architecture = of;
        const Error error = test::error_of([&] {
            perform({.words = {"capture", what, "f"}}, {client, nullptr, hello});
        });
        return std::string(error.what());
    };
    using protocol::Architecture;
    EXPECT_EQ(said(Architecture::riscv64, "x0"),
              "x0: expected a0 to a7 (riscv64), result, or none");
    EXPECT_EQ(said(Architecture::riscv64, "a0,x1"),
              "x1: expected a0 to a7 (riscv64), result, or none");
    EXPECT_EQ(said(Architecture::arm64, "a0"), "a0: expected x0 to x7 (arm64), result, or none");
    // What the target has is not refused for its name, but f without an image.
    EXPECT_THAT(said(Architecture::riscv64, "a0,7,result"), HasSubstr("--image"));
    EXPECT_THAT(said(Architecture::arm64, "x0"), HasSubstr("--image"));
    EXPECT_TRUE(line.target.done.empty());
}
// A timeout is no refusal, and is said once.
TEST_F(OneHost, SaysThatACoreWasLate) {
    const auto done = [&] { return perform({.words = {"start"}}, {client, nullptr, {}}); };
    line.target.says = protocol::Answer::timeout;
    const Performed late = done();
    EXPECT_TRUE(late.late);
    EXPECT_THAT(late.text, HasSubstr("stayed in the tracer's code for a second"));
    line.target.says = protocol::Answer::ok;
    EXPECT_FALSE(done().late);
    EXPECT_FALSE(client.take_late());
}

// Each named event, by every pair of its spellings. Sums must not hold it twice.
TEST(ControlRequest, AnEventIsNamedOnceHoweverItIsSpelt) {
    const auto refused = [](const std::string& first, const std::string& second) {
        const Error error = test::error_of([&] { check({.words = {"events", first, second}}); });
        return std::string(error.what()).find("the same event") != std::string::npos;
    };
    std::istringstream list(event_list());
    unsigned known = 0;
    for (std::string hex, name; list >> hex >> name; ++known) {
        const std::string spelt[] = {name, hex, std::to_string(*event_number(hex))};
        for (const std::string& first : spelt) {
            for (const std::string& second : spelt)
                EXPECT_TRUE(refused(first, second)) << first << second;
        }
    }
    EXPECT_GT(known, 60u);
    EXPECT_FALSE(refused("cpu_cycles", "0x12"));
}

TEST(ControlRequest, SurvivesTheControlSocket) {
    const ControlRequest request{.words = {"trace", "a*\n\"", "\xff"},
                                 .choice = {{}, {"b"}, 12},
                                 .recorder = "graph",
                                 .also = true};
    const ControlRequest back = control_request(to_json(request));
    EXPECT_EQ(back.words[1], request.words[1]);
    EXPECT_EQ(back.choice.notrace, request.choice.notrace);
    EXPECT_EQ(back.choice.size_above, request.choice.size_above);
    EXPECT_EQ(back.recorder, "graph");
    EXPECT_TRUE(back.also);
    EXPECT_EQ(to_json(request).find('\n'), std::string::npos);
    for (const char* bad :
         {"", "{}", "[1]", "{\"words\":3}", "{\"words\":[\"start\"],\"also\":7}", "x"})
        EXPECT_THROW(control_request(bad), Error) << bad;
}

}  // namespace nopscope::host::test::control_client_test
