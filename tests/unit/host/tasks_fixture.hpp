// SPDX-License-Identifier: Apache-2.0
// A stream that tells of tasks, and the entries of a report's JSON that come of it.
#pragma once

#include "tests/unit/host/prelude.hpp"
#include "tests/unit/host/report_fixture.hpp"

namespace nopscope::host::test {

inline protocol::TaskName name(std::string_view text) { return TargetStream::task_name(text); }

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
    return json::parse(json_report(or_throw(make_report(profile, {}, nullptr))));
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
    json reported() { return json::parse(json_report(report())); }
    std::string told() { return told_by(reported()); }
    // Of a part of the finished stream.
    json reported_of(const Part& part, Tasks names = {}) {
        Profile profile_of_part;
        const Symbols symbols = symbols_of(target, {"f1", "f2"});
        read_part(target, symbols, part, profile_of_part, names);
        or_throw(profile_of_part.part().check());
        return json_of(profile_of_part);
    }
    void read(SessionSink& sink) { read_line(target, sink); }
};

}  // namespace nopscope::host::test
