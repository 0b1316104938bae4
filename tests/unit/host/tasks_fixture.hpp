// SPDX-License-Identifier: Apache-2.0
// A stream that tells of tasks, and the entries of a report's JSON that come of it.
#pragma once

#include "host-tools/analysis/part/part_stream.hpp"
#include "tests/unit/host/prelude.hpp"
#include "tests/unit/host/report_fixture.hpp"

namespace nopscope::host::test {

inline protocol::TaskName name(std::string_view text) { return TargetStream::task_name(text); }

inline TaskFacts facts(std::uint32_t number, std::string_view its_name, std::uint32_t core = 0) {
    return {.number = number, .core = core, .name = name(its_name)};
}

// What a report's JSON tells of tasks and objects, a line each. Of contexts only the counts that
// are not zero: "session 1, 2@0: "worker", ready 1, blocked 3".
inline std::string told_by(const json& report) {
    std::string text;
    const auto session_of = [](const json& one) {
        return one["session"] == 0 ? "" : "session " + one["session"].dump() + ", ";
    };
    for (const json& one : report["contexts"]) {
        std::vector<std::string> facts;
        if (one.contains("name")) facts.push_back(one["name"].dump());
        if (one.contains("ready")) facts.push_back("ready " + one["ready"].dump());
        if (one.contains("switched_away")) {
            for (const auto& [how, count] : one["switched_away"].items())
                if (count != 0) facts.push_back(how + " " + count.dump());
        }
        if (facts.empty()) continue;
        text += session_of(one) + one["context"].dump() + "@" + one["core"].dump() + ": " +
                joined(facts) + "\n";
    }
    for (const json& one : report.value("objects", json::array())) {
        text += session_of(one) + "object " + one["id"].dump() + ": " + one["name"].dump();
        for (const char* const count : {"takes", "gives", "waits"})
            text += std::string(", ") + count + " " + one[count].dump();
        text += "\n";
    }
    return text;
}
inline json json_of(const Profile& profile) {
    return json::parse(json_report(make_report(profile, {}, nullptr)));
}

// The entry of `contexts`; null: there is none.
inline json context_of(const json& report, unsigned context) {
    for (const json& one : report["contexts"]) {
        if (one["context"] == context) return one;
    }
    return nullptr;
}

class TasksTest : public StreamReport {
protected:
    TasksTest() {
        target.cores = 2;
        target.hello();
    }
    void run(std::uint32_t context, std::uint8_t core = 0) {
        target.argument(Extended::context, context, 10, core);
    }
    void switch_to(std::uint32_t context, protocol::Left how, std::uint8_t core = 0) {
        run(context, core);
        target.left(how, core);
    }
    // Words of Play, and these, with "@1" behind them on core 1:
    //   c5   c5b   context 5 runs, after 10 ticks; the core left the one before as it was blocked.
    //              Also p: preempted, g: gave way, e: ended, u: unknown, z: of a later version
    //   lb         how the core left it, alone
    //   r5         context 5 is ready
    //   t5 g5 w5   object 5 is taken; given; waited for
    //   n5=x o5=y  the target tells the name of context 5, which is x; of object 5
    //   reset      the target restarts
    void take(const std::string& course) {
        static const std::regex form(
            R"((?:(\d+):)?([clrtgwno])(\d*)([pbgeuz]?)(?:=(\w+))?(?:@(\d))?)");
        static const std::map<char, TaskFact> told{{'r', TaskFact::ready},
                                                   {'t', TaskFact::takes},
                                                   {'g', TaskFact::gives},
                                                   {'w', TaskFact::waits}};
        std::istringstream words(course);
        for (std::string word; words >> word;) {
            std::smatch of;
            if (word == "reset") {
                target.finish();
                target.reset();
                target.hello();
                continue;
            }
            if (!std::regex_match(word, of, form)) {
                play(word);
                continue;
            }
            const std::string its_name = of[5];
            const auto number = of.length(3) == 0 ? 0 : std::stoull(of[3]);
            const auto context = static_cast<std::uint32_t>(number);
            const auto core = static_cast<std::uint8_t>(of.length(6) == 0 ? 0 : std::stoi(of[6]));
            const char what = of.str(2)[0];
            if (what == 'n') target.tasks(facts(context, its_name, core));
            if (what == 'o') target.tasks(ObjectName{number, name(its_name)});
            if (told.contains(what)) target.task_fact(told.at(what), number, core);
            if (what == 'c') {
                const auto ticks = of.length(1) == 0 ? 10 : std::stoull(of[1]);
                target.argument(Extended::context, context, ticks, core);
            }
            if (of.length(4) != 0) {
                const std::size_t how = std::string_view("upbgez").find(of.str(4));
                target.left(static_cast<protocol::Left>(how), core);
            }
        }
    }
    json reported() { return json::parse(json_report(report())); }
    std::string told() { return told_by(reported()); }
    // Of a part of the finished stream.
    json reported_of(const Part& part, Tasks names = {}) {
        Profile profile_of_part;
        const Symbols symbols = symbols_of(target, {"f1", "f2"});
        PartStream stream(profile_of_part, part, known(symbols), "x.nsc", std::move(names));
        read(stream);
        stream.check();
        return json_of(profile_of_part);
    }
    static Part part_of(const std::string& task) {
        Part part;
        part.task = task;
        return part;
    }
    void read(SessionSink& sink) { read_line(target, sink); }
};

}  // namespace nopscope::host::test
