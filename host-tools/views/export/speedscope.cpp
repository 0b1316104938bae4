// SPDX-License-Identifier: Apache-2.0
// speedscope's file format: an "evented" profile for each track, and a "sampled" profile for each
// core's samples. Each profile's events are contiguous, so it grows in its own temporary file.
#include <fmt/compile.h>
#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "host-tools/views/export/formats.hpp"
#include "host-tools/views/export/track_files.hpp"
#include "host-tools/views/json/json.hpp"

namespace nopscope::host {
namespace {

namespace fs = std::filesystem;

class Speedscope : public EventSink {
public:
    Speedscope(const Output& output, TimeAxis axis)
        : file_(output),
          axis_(axis),
          events_(output.path(), events_name),
          samples_(output.path(), samples_name) {}

    bool wants_tasks() const override { return true; }
    void on_shown_part(const std::string& part) override { part_ = part; }
    void on_function(std::uint32_t number, const FunctionPlace& place) override {
        frames_.try_emplace(number, frames_.size());
        if (!list_.empty()) list_ += ",\n";
        list_ += "{\"name\":" + json_string(place.name);
        if (!place.file.empty())
            list_ += fmt::format(",\"file\":{},\"line\":{}", json_string(place.file), place.line);
        list_ += "}";
    }
    void on_track(const Track& track) override {
        tracks_.push_back({.track = track});
        events_.add(track.number);
        samples_.add(track.number);
    }
    void entry(const Track& track, std::uint32_t function, Nanoseconds now) override {
        event('O', track, function, now);
    }
    void leave(const Track& track, const EndedCall& call) override {
        event('C', track, call.function, call.to);
    }
    // A call without a duration.
    void point(const Track& track, std::uint32_t function, Nanoseconds now) override {
        event('O', track, function, now);
        event('C', track, function, now);
    }
    void sample(const Track& track, std::span<const std::uint32_t> path, Nanoseconds now) override {
        Profile& of = seen(track, now);
        std::string text = of.samples++ == 0 ? "[" : ",\n[";
        for (std::size_t i = 0; i < path.size(); ++i)
            text += fmt::format("{}{}", i == 0 ? "" : ",", frames_.at(path[i]));
        samples_.write(track.number, text + "]");
    }
    void time_pair(const TimePair& pair) override {
        pairs_ += (pairs_.empty() ? "" : ",\n") + time_pair_json(pair);
    }
    void finish() override;

private:
    struct Profile {
        Track track;
        std::uint64_t events = 0;
        std::uint64_t samples = 0;
        Nanoseconds begin = 0;
        Nanoseconds end = 0;
    };
    static fs::path events_name(const fs::path& beside, std::uint32_t track) {
        return fmt::format("{}.events-{}", beside.string(), track);
    }
    static fs::path samples_name(const fs::path& beside, std::uint32_t track) {
        return fmt::format("{}.samples-{}", beside.string(), track);
    }

    Profile& seen(const Track& track, Nanoseconds now) {
        Profile& of = tracks_[track.number];
        if (of.events == 0 && of.samples == 0) of.begin = now;
        of.end = now;
        return of;
    }
    void event(char type, const Track& track, std::uint32_t function, Nanoseconds now) {
        Profile& of = seen(track, now);
        char text[96];
        char* const end =
            fmt::format_to(text, FMT_COMPILE("{}{{\"type\":\"{}\",\"at\":{},\"frame\":{}}}"),
                           of.events++ == 0 ? "" : ",\n", type, now, frames_.at(function));
        events_.write(track.number, {text, static_cast<std::size_t>(end - text)});
    }
    void head(const Profile& of, const char* type, const char* what, const char* unit,
              Nanoseconds begin, std::uint64_t end) {
        file_.write(
            fmt::format("{}{{\"type\":\"{}\",\"name\":{},\"unit\":\"{}\",\"startValue\":{},"
                        "\"endValue\":{},",
                        std::exchange(profiles_, true) ? ",\n" : "", type,
                        json_string(track_name(of.track) + what), unit, begin, end));
    }

    FileWriter file_;
    TimeAxis axis_;
    std::string pairs_;
    std::string part_;
    TrackFiles events_;
    TrackFiles samples_;
    std::unordered_map<std::uint32_t, std::size_t> frames_;  // function -> index in the list
    std::string list_;
    std::vector<Profile> tracks_;
    bool profiles_ = false;
};

void Speedscope::finish() {
    file_.write(
        "{\"$schema\":\"https://www.speedscope.app/"
        "file-format-schema.json\",\"exporter\":\"nopscope\",\n"
        "\"name\":");
    file_.write(json_string("nopscope, raw times" + (part_.empty() ? part_ : ", " + part_)));
    // speedscope ignores this member.
    file_.write(
        fmt::format(",\n\"nopscope\":{{\"times\":{},\"clock_pairs\":[{}]}},\n\"profiles\":[\n",
                    json_string(times_text(axis_)), pairs_));
    for (const Profile& of : tracks_) {
        if (of.events != 0) {
            head(of, "evented", "", "nanoseconds", of.begin, of.end);
            file_.write("\"events\":[\n");
            events_.move_to(file_, of.track.number);
            file_.write("]}");
        }
        if (of.samples == 0) continue;
        head(of, "sampled", ": samples", "none", 0, of.samples);
        file_.write("\"samples\":[\n");
        samples_.move_to(file_, of.track.number);
        file_.write("],\"weights\":[");
        for (std::uint64_t i = 0; i < of.samples; ++i) file_.write(i == 0 ? "1" : ",1");
        file_.write("]}");
    }
    file_.write("],\n\"shared\":{\"frames\":[\n");
    file_.write(list_);
    file_.write("]}}\n");
    file_.close();
}

}  // namespace

std::unique_ptr<EventSink> speedscope_sink(const Output& output, TimeAxis axis) {
    return std::make_unique<Speedscope>(output, axis);
}

}  // namespace nopscope::host
