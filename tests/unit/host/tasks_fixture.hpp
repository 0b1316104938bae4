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

inline json told_by(const Profile& profile) {
    return json::parse(json_report(make_report(profile, {}, nullptr)));
}

// The entry of `contexts`; null: there is none.
inline json context_of(const json& report, unsigned context, unsigned core = 0,
                       unsigned session = 0) {
    for (const json& one : report["contexts"]) {
        if (one["context"] == context && one["core"] == core && one["session"] == session)
            return one;
    }
    return nullptr;
}

inline json object_of(const json& report, std::uint64_t id, unsigned session = 0) {
    if (!report.contains("objects")) return nullptr;
    for (const json& one : report["objects"]) {
        if (one["id"] == id && one["session"] == session) return one;
    }
    return nullptr;
}

inline json left(unsigned preempted, unsigned blocked, unsigned gave_way, unsigned ended,
                 unsigned unknown) {
    return {{"preempted", preempted},
            {"blocked", blocked},
            {"gave_way", gave_way},
            {"ended", ended},
            {"unknown", unknown}};
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
    json told() { return json::parse(json_report(report())); }
    // Of a part of the finished stream.
    json told_of(const Part& part, Tasks names = {}) {
        Profile profile_of_part;
        const Symbols symbols = symbols_of(target, {"f1", "f2"});
        PartStream stream(profile_of_part, part, known(symbols), "x.nsc", std::move(names));
        read(stream);
        stream.check();
        return told_by(profile_of_part);
    }
    void read(SessionSink& sink) { read_line(target, sink); }
    // A frame of these bytes.
    void raw_tasks(const Bytes& bytes) {
        target.flush();
        target.frame(protocol::Stream::tasks, bytes);
    }
};

}  // namespace nopscope::host::test
