// SPDX-License-Identifier: Apache-2.0
// A line for each call, when it ends, and each event. The first line says that the times are raw.
#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <unordered_map>

#include "host-tools/base/text.hpp"
#include "host-tools/calls/event_sink.hpp"
#include "host-tools/image/arch/pmu_events.hpp"
#include "host-tools/views/export/formats.hpp"
#include "host-tools/views/text/table.hpp"

namespace nopscope::host {
namespace {

class Csv : public EventSink {
public:
    Csv(const Output& output, TimeAxis axis) : file_(output) {
        file_.write(
            "kind,core,context,depth,begin_ns,end_ns,duration_ns,self_ns,how,name,file,line,"
            "address,value,cpu_ns,task\n");
        file_.write("note,,,,,,,,," + csv_cell(times_text(axis)) + ",,,,,,\n");
    }

    bool wants_tasks() const override { return true; }
    void on_function(std::uint32_t number, const FunctionPlace& place) override {
        names_[number] = csv_cell(place.name) + "," + csv_cell(place.file) + "," +
                         std::to_string(place.line) + "," +
                         (place.address != 0 ? hex_address(place.address) : std::string());
    }
    void on_shown_part(const std::string& part) override {
        file_.write("note,,,,,,,,," + csv_cell("a part of the recording: " + part) + ",,,,,,\n");
    }
    void point(const Track& track, std::uint32_t function, Nanoseconds now) override {
        line("point", track, {}, now, {}, {}, {}, names_[function]);
    }
    void whole(const Track& track, std::uint32_t function, Nanoseconds from, Nanoseconds to,
               std::uint32_t depth) override {
        line("whole", track, depth, from, to, {}, {}, names_[function]);
    }
    void absence(std::uint32_t core, const Absence& absence) override {
        const auto part = [&](const char* what, std::uint64_t count) {
            if (count != 0)
                line(what, {0, core, 0}, {}, absence.from, absence.to, {}, {}, no_name,
                     std::to_string(count));
        };
        part("lost", absence.lost);
        part("overwritten", absence.overwritten);
        part("dropped", absence.dropped);
    }
    void mark(const Track& track, std::uint32_t id, Nanoseconds now) override {
        line("mark", track, {}, now, {}, {}, {}, no_name, std::to_string(id));
    }
    void counter(const Track& track, std::uint32_t id, std::int64_t value,
                 Nanoseconds now) override {
        line("counter", track, {}, now, {}, {}, std::to_string(id), no_name, std::to_string(value));
    }
    void value(const Track& track, const CapturedValue& captured, Nanoseconds now) override {
        line("value", track, {}, now, {}, {}, captured.name, names_[captured.function],
             std::to_string(captured.value));
    }
    // A sample has a line for each of its functions, the outermost first, with its depth.
    void events(const Track& track, std::uint32_t function, std::span<const EventCount> counts,
                Nanoseconds now) override {
        for (const EventCount& one : counts) {
            line("events", track, {}, now, {}, {}, event_name(one.number), names_[function],
                 std::to_string(one.count));
        }
    }
    void masked(const Track& track, std::uint32_t function, Nanoseconds from,
                Nanoseconds to) override {
        line("masked", track, {}, from, to, {}, {}, names_[function]);
    }
    void sample(const Track& track, std::span<const std::uint32_t> path, Nanoseconds now) override {
        for (std::uint32_t i = 0; i < path.size(); ++i)
            line("sample", track, i, now, {}, {}, {}, names_[path[i]]);
    }
    void console(std::string_view bytes, Nanoseconds now) override {
        line("console", {}, {}, now, {}, {}, {}, csv_cell(bytes) + ",,,");
    }
    void time_pair(const TimePair& pair) override {
        file_.write(
            fmt::format("utc,,,,{},,,,{},,,,,{},,\n", pair.time, pair.error_ns, pair.utc_ns));
    }
    void leave(const Track& track, const EndedCall& call) override {
        line("call", track, call.depth, call.from, call.to, {call.duration, call.self, call.cpu},
             left_text(call.how), names_[call.function]);
    }
    void finish() override { file_.close(); }

private:
    using Number = std::optional<std::uint64_t>;
    struct Lengths {
        Number duration;
        Number self;
        Number cpu;
    };
    static constexpr std::string_view no_name = ",,,";

    void line(std::string_view kind, const Track& track, Number depth, Number from, Number to,
              const Lengths& lengths, std::string_view how, std::string_view name,
              std::string_view value = {}) {
        file_.write(kind);
        const auto cell = [&](const Number& number) {
            char text[24] = {','};
            char* end = text + 1;
            if (number) end = std::to_chars(end, text + sizeof text, *number).ptr;
            file_.write({text, static_cast<std::size_t>(end - text)});
        };
        for (const Number number : {Number(track.core), Number(track.context), depth, from, to,
                                    lengths.duration, lengths.self}) {
            cell(number);
        }
        for (const std::string_view text : {how, name, value}) {
            file_.write(",");
            file_.write(text);
        }
        cell(lengths.cpu);
        file_.write(",");
        if (track.task != nullptr) file_.write(csv_cell(track.task->label));
        file_.write("\n");
    }

    FileWriter file_;
    std::unordered_map<std::uint32_t, std::string> names_;
};

}  // namespace

std::unique_ptr<EventSink> csv_sink(const Output& output, TimeAxis axis) {
    return std::make_unique<Csv>(output, axis);
}

}  // namespace nopscope::host
