// SPDX-License-Identifier: Apache-2.0
// Chrome's Trace Event Format: a begin and an end event (B, E) for each call, in recorded order.
// Times are in microseconds with three decimals, so they are exact. Each track is a thread. Each
// core has one more thread for missing records.
//
// speedscope sorts begins and ends separately, and puts ends first if their times are equal. A call
// that begins and ends at the same time would stay open. So such an event is one picosecond later
// than the one before it (three more decimals). speedscope also appends an event's `args` to its
// name, so calls have none; the functions' places are in `otherData`.
#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "host-tools/views/export/formats.hpp"
#include "host-tools/views/json/json.hpp"

namespace nopscope::host {
namespace {

// Perfetto uses thread 0 for the process itself, so the first track is thread 1.
constexpr std::uint32_t first_thread = 1;
constexpr std::uint32_t first_absence_thread = 1'000'000;
constexpr std::uint32_t first_masked_thread = 1'500'000;
constexpr std::uint32_t console_thread = 1'999'999;
constexpr std::uint32_t first_whole_thread = 2'000'000;

class Chrome : public EventSink {
public:
    Chrome(const Output& output, TimeAxis axis) : file_(output), axis_(axis) {
        file_.write(
            "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
            "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":"
            "\"nopscope, raw times\"}}");
    }

    bool wants_tasks() const override { return true; }
    void on_shown_part(const std::string& part) override { part_ = part; }
    void on_function(std::uint32_t number, const FunctionPlace& place) override {
        names_[number] = "\"name\":" + json_string(without_nul(place.name));
        if (place.file.empty()) return;
        places_ += fmt::format("{}{{{},\"file\":{},\"line\":{}}}", places_.empty() ? "" : ",\n",
                               names_[number], json_string(place.file), place.line);
    }
    void on_track(const Track& track) override {
        lasts_.resize(track.number + 1);
        name_thread(thread(track), track_name(track));
    }
    void entry(const Track& track, std::uint32_t function, Nanoseconds now) override {
        call(track, 'B', function, now);
        file_.write("}");
    }
    void leave(const Track& track, const EndedCall& ended) override {
        call(track, 'E', ended.function, ended.to);
        if (ended.how != Left::returned) {
            file_.write(",\"left\":\"");
            file_.write(left_text(ended.how));
            file_.write("\"");
        }
        file_.write("}");
    }
    void point(const Track& track, std::uint32_t function, Nanoseconds now) override {
        event(thread(track), 'i', now, R"("s":"t","cat":"call",)" + names_[function]);
    }
    // Duration records do not come in the order of the calls' begins, so each depth has a thread.
    void whole(const Track& track, std::uint32_t function, Nanoseconds from, Nanoseconds to,
               std::uint32_t depth) override {
        const auto next = first_whole_thread + static_cast<std::uint32_t>(whole_threads_.size());
        const auto [at, is_new] = whole_threads_.try_emplace({track.number, depth}, next);
        if (is_new) {
            name_thread(next, fmt::format("{}: told whole, depth {}", track_name(track), depth));
        }
        complete(at->second, from, to, R"("cat":"whole",)" + names_[function]);
    }
    void absence(std::uint32_t core, const Absence& absence) override {
        const bool is_drop = absence.lost == 0 && absence.overwritten == 0;
        const std::uint32_t tid = first_absence_thread + 2 * core + (is_drop ? 1 : 0);
        name_once(tid, fmt::format("core {}: {}", core, is_drop ? "dropped" : "lost"));
        complete(
            tid, absence.from, absence.to,
            fmt::format(
                R"("cat":"gap","name":"gap","args":{{"lost":{},"overwritten":{},"dropped":{}}})",
                absence.lost, absence.overwritten, absence.dropped));
    }
    void masked(const Track& track, std::uint32_t function, Nanoseconds from,
                Nanoseconds to) override {
        const std::uint32_t tid = first_masked_thread + track.core;
        name_once(tid, fmt::format("core {}: interrupts masked", track.core));
        complete(tid, from, to, R"("cat":"irq",)" + names_[function]);
    }
    void mark(const Track& track, std::uint32_t id, Nanoseconds now) override {
        event(thread(track), 'i', now,
              fmt::format(R"("s":"p","cat":"mark","name":"mark {0}","args":{{"id":{0}}})", id));
    }
    void counter(const Track& track, std::uint32_t id, std::int64_t value,
                 Nanoseconds now) override {
        event(thread(track), 'C', now,
              fmt::format(R"("name":"counter {}","args":{{"value":{}}})", id, value));
    }
    // Perfetto nests instants of the same time and drops those beyond 512. So each is 1 ns later
    // than the one before.
    void console(std::string_view bytes, Nanoseconds now) override {
        name_once(console_thread, "console");
        console_ = std::max(now, console_ + 1);
        event(console_thread, 'i', console_,
              fmt::format(R"("s":"t","cat":"console","name":{})", json_string(without_nul(bytes))));
    }
    void time_pair(const TimePair& pair) override {
        pairs_ += (pairs_.empty() ? "" : ",\n") + time_pair_json(pair);
    }
    void finish() override {
        file_.write(
            fmt::format("\n],\n\"otherData\":{{\"exporter\":\"nopscope\",\"times\":{},\n\"clock_"
                        "pairs\":[{}],\n",
                        json_string(times_text(axis_)), pairs_));
        if (!part_.empty()) file_.write(fmt::format("\"part\":{},\n", json_string(part_)));
        file_.write("\"functions\":[\n");
        file_.write(places_);
        file_.write("]}}\n");
        file_.close();
    }

private:
    struct Last {
        Nanoseconds at = 0;
        std::uint32_t equal = 0;  // number of earlier events of that time
    };
    static constexpr std::uint32_t most_equal = 999;

    static std::uint32_t thread(const Track& track) { return first_thread + track.number; }

    void begin_event(std::uint32_t tid, char phase, Nanoseconds at, std::uint32_t picoseconds = 0) {
        char* to = file_.room(160);
        to = fmt::format_to(to,
                            FMT_COMPILE(",\n{{\"ph\":\"{}\",\"pid\":1,\"tid\":{},\"ts\":{}.{:03}"),
                            phase, tid, at / 1000, at % 1000);
        if (picoseconds != 0) to = fmt::format_to(to, FMT_COMPILE("{:03}"), picoseconds);
        *to++ = ',';
        file_.used(to);
    }
    void call(const Track& track, char phase, std::uint32_t function, Nanoseconds now) {
        Last& last = lasts_[track.number];
        last.equal = now == last.at ? std::min(last.equal + 1, most_equal) : 0;
        last.at = now;
        begin_event(thread(track), phase, now, last.equal);
        file_.write("\"cat\":\"call\",");
        file_.write(names_[function]);
    }
    void event(std::uint32_t tid, char phase, Nanoseconds at, std::string_view rest) {
        begin_event(tid, phase, at);
        file_.write(rest);
        file_.write("}");
    }
    void complete(std::uint32_t tid, Nanoseconds from, Nanoseconds to, std::string_view rest) {
        begin_event(tid, 'X', from);
        file_.write(
            fmt::format("\"dur\":{}.{:03},{}}}", (to - from) / 1000, (to - from) % 1000, rest));
    }
    void name_thread(std::uint32_t tid, std::string_view name) {
        file_.write(
            fmt::format(",\n{{\"ph\":\"M\",\"pid\":1,\"tid\":{},\"name\":\"thread_name\",\"args\":{"
                        "{\"name\":{}}}}}",
                        tid, json_string(without_nul(name))));
    }
    void name_once(std::uint32_t tid, std::string_view name) {
        if (named_.insert(tid).second) name_thread(tid, name);
    }

    FileWriter file_;
    TimeAxis axis_;
    std::unordered_map<std::uint32_t, std::string> names_;  // by function: the JSON member "name"
    std::string places_;
    std::string pairs_;
    std::string part_;
    std::vector<Last> lasts_;  // by track
    // By track and depth.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> whole_threads_;
    std::set<std::uint32_t> named_;
    Nanoseconds console_ = 0;
};

}  // namespace

std::unique_ptr<EventSink> chrome_sink(const Output& output, TimeAxis axis) {
    return std::make_unique<Chrome>(output, axis);
}

}  // namespace nopscope::host
