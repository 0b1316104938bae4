// SPDX-License-Identifier: Apache-2.0
// Chrome's Trace Event Format: an array of complete events (X), whose order is free. Times are in
// microseconds, with three digits behind the point: nothing is rounded. Each track is a thread; each core has one
// more for what is missing.
#include <fmt/compile.h>
#include <fmt/format.h>

#include <set>
#include <unordered_map>

#include "host-tools/export/call_sink.hpp"
#include "host-tools/export/formats.hpp"
#include "host-tools/export/json_text.hpp"

namespace nopscope {
namespace {

constexpr std::uint32_t first_absence_thread = 1'000'000;

class Chrome : public CallSink {
public:
    explicit Chrome(const Output& output) : file_(output.path()) {
        file_.write(
            "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
            "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"nopscope\"}}");
    }

    void on_function(std::uint32_t number, const FunctionPlace& place) override {
        std::string& tail = names_[number] = "\",\"name\":" + json_string(place.name);
        if (!place.file.empty()) {
            tail +=
                fmt::format(",\"args\":{{\"at\":{}", json_string(place.file + ":" + std::to_string(place.line)));
        } else {
            tail += ",\"args\":{\"at\":\"\"";
        }
    }
    void on_track(const Track& track) override {
        CallSink::on_track(track);
        thread(track.number, fmt::format("core {}, context {}", track.core, track.context));
    }
    void point(const Track& track, std::uint32_t function, Nanoseconds now) override {
        event(track.number, "i", now, R"("s":"t","cat":"call)" + names_[function] + "}");
    }
    void whole(const Track& track, std::uint32_t function, Nanoseconds from, Nanoseconds to,
               std::uint32_t) override {
        complete(track.number, from, to, "whole" + names_[function] + "}");
    }
    void absence(std::uint32_t core, const Absence& absence) override {
        const bool is_drop = absence.lost == 0 && absence.overwritten == 0;
        const std::uint32_t tid = first_absence_thread + 2 * core + (is_drop ? 1 : 0);
        if (named_.insert(tid).second) thread(tid, fmt::format("core {}: {}", core, is_drop ? "dropped" : "lost"));
        complete(tid, absence.from, absence.to,
                 fmt::format(R"(gap","name":"gap","args":{{"lost":{},"overwritten":{},"dropped":{}}})",
                             absence.lost, absence.overwritten, absence.dropped));
    }
    void mark(const Track& track, std::uint32_t id, Nanoseconds now) override {
        event(track.number, "i", now,
              fmt::format(R"("s":"p","cat":"mark","name":"mark {0}","args":{{"id":{0}}})", id));
    }
    void counter(const Track&, std::uint32_t id, std::int64_t value, Nanoseconds now) override {
        event(0, "C", now, fmt::format(R"("name":"counter {}","args":{{"value":{}}})", id, value));
    }
    void console(std::string_view bytes, Nanoseconds now) override {
        event(0, "i", now, fmt::format(R"("s":"g","cat":"console","name":{})", json_string(bytes)));
    }
    void finish() override {
        file_.write("\n]}\n");
        file_.close();
    }

protected:
    void ended(const Track& track, const EndedCall& call) override {
        begin_event(track.number, "X", call.from);
        duration(call.to - call.from);
        file_.write("\"cat\":\"call");
        file_.write(names_[call.function]);
        if (call.how != Left::returned) {
            file_.write(",\"left\":\"");
            file_.write(left_text(call.how));
            file_.write("\"");
        }
        file_.write("}}");
    }

private:
    void begin_event(std::uint32_t tid, std::string_view phase, Nanoseconds at) {
        char* const to = file_.room(160);
        file_.used(fmt::format_to(to, FMT_COMPILE(",\n{{\"ph\":\"{}\",\"pid\":1,\"tid\":{},\"ts\":{}.{:03},"),
                                  phase, tid, at / 1000, at % 1000));
    }
    void duration(Nanoseconds ns) {
        char* const to = file_.room(64);
        file_.used(fmt::format_to(to, FMT_COMPILE("\"dur\":{}.{:03},"), ns / 1000, ns % 1000));
    }
    void event(std::uint32_t tid, std::string_view phase, Nanoseconds at, std::string_view rest) {
        begin_event(tid, phase, at);
        file_.write(rest);
        file_.write("}");
    }
    void complete(std::uint32_t tid, Nanoseconds from, Nanoseconds to, std::string_view rest) {
        begin_event(tid, "X", from);
        duration(to - from);
        file_.write("\"cat\":\"");
        file_.write(rest);
        file_.write("}");
    }
    void thread(std::uint32_t tid, std::string_view name) {
        file_.write(fmt::format(
            ",\n{{\"ph\":\"M\",\"pid\":1,\"tid\":{},\"name\":\"thread_name\",\"args\":{{\"name\":\"{}\"}}}}", tid,
            name));
    }

    FileWriter file_;
    std::unordered_map<std::uint32_t, std::string> names_;  // from behind the category on, args open
    std::set<std::uint32_t> named_;
};

}  // namespace

std::unique_ptr<EventSink> chrome_sink(const Output& output) { return std::make_unique<Chrome>(output); }

}  // namespace nopscope
