// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/serve/subjects.hpp"

#include <fmt/format.h>

#include "host-tools/base/gzip.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/views/json/json.hpp"
#include "host-tools/views/page/html.hpp"

namespace nopscope::host {
namespace {

using namespace std::chrono_literals;

constexpr auto view_interval = 900ms;  // less than the time between two events

std::string packed(const std::string& text) {
    std::string out;
    Gzip gzip([&](std::string_view bytes) { out += bytes; }, Z_BEST_SPEED);
    gzip.add(text);
    gzip.finish();
    return out;
}

std::shared_ptr<const Shown::View> make_view(std::uint64_t number, std::string json) {
    std::string gzip = packed(json);
    return std::make_shared<const Shown::View>(
        Shown::View{number, std::move(json), std::move(gzip)});
}

// With all fields of web/src/status.ts.
Json status_json(const std::string& source, const std::string& state) {
    return {{"source", for_cell(source)},
            {"state", state},
            {"stopped", false},
            {"figures", ""},
            {"sentence", ""},
            {"note", ""},
            {"resets", 0},
            {"losses", 0},
            {"commands", false},
            {"view", 0},
            {"rates", nullptr},
            {"dropped", 0},
            {"lost", 0},
            {"recording", ""},
            {"console", ""},
            {"console_begins", false}};
}

Json json_rates(const std::optional<Rates>& rates) {
    if (!rates) return nullptr;
    const auto core = [](const CoreRates& of) {
        return Json{{"number", of.number}, {"records", of.records}, {"busy", or_null(of.busy)}};
    };
    return {{"bytes", rates->bytes},
            {"share", or_null(rates->line_share)},
            {"records", rates->records},
            {"dropped", rates->dropped},
            {"cores", json_list(rates->cores, core)}};
}

// The counters whose change also changes the page's view.
StreamCounters shown_by(StreamCounters counters) {
    for (const auto stream :
         {protocol::Stream::hello, protocol::Stream::stats, protocol::Stream::console,
          protocol::Stream::reply, protocol::Stream::tasks}) {
        counters.frames_by_stream[static_cast<std::size_t>(stream)] = 0;
    }
    return counters;
}

std::string recording_text(const SideRecording& recording) {
    if (!recording.error.empty()) return recording.path + ": " + recording.error;
    return recording.path.empty() || recording.on ? recording.path : recording.path + " (ended)";
}

}  // namespace

ShownFile::ShownFile(const std::string& path, std::string view)
    : view_(make_view(1, std::move(view))) {
    Json json = status_json(path, "file");
    json["view"] = 1;
    status_ = json_line(json);
}

std::string ShownFile::status(std::uint64_t& /*console*/) { return status_; }

ControlAnswer ShownFile::ask(const ControlRequest& /*request*/) {
    return {Exit::usage, "this is a recording: nothing can be asked of its target any more"};
}

void ShownLine::refresh() {
    if (number_ != 0 && std::chrono::steady_clock::now() - now_.status.at < view_interval) return;
    LiveView next = live_.view(raw_);
    if (now_.profile) rates_ = rates_between(now_, next);
    const StreamCounters seen = shown_by(next.status.stream);
    const bool is_new = number_ == 0 || seen != seen_ || next.status.state != now_.status.state ||
                        next.status.begin.number != now_.status.begin.number;
    if (next.report && is_new) ++number_;
    seen_ = seen;
    now_ = std::move(next);
}

std::shared_ptr<const Shown::View> ShownLine::view() {
    const std::lock_guard lock(mutex_);
    refresh();
    if (now_.report && (!view_ || view_->number != number_)) {
        // While the target runs, a recording without an end is no fault.
        if (now_.status.state == LineState::running) now_.report->integrity.complete = true;
        view_ = make_view(number_, view_json(*now_.report, *now_.profile, title_, most_paths,
                                             {.timeline = now_.timeline.get(), .code = code_}));
    }
    return view_;
}

std::string ShownLine::status(std::uint64_t& console) {
    const LiveStatus status = live_.status();
    Json json = status_json(status.from, name_of(status.state));
    json["sentence"] = for_terminal(status.sentence);
    json["note"] = for_terminal(status.note);
    json["resets"] = status.resets;
    json["losses"] = status.losses;
    json["commands"] = status.takes_commands && status.state != LineState::over &&
                       status.state != LineState::failed;
    if (!status.begin.request.empty()) {
        json["figures"] =
            for_terminal(fmt::format("{} ({})", clock_text(status.begin), status.begin.request));
    }
    json["dropped"] = status.stream.dropped;
    json["lost"] = status.stream.lost;
    json["recording"] = for_terminal(recording_text(status.recording));
    const std::uint64_t kept = status.console.size();
    const std::uint64_t more =
        std::min(status.console_bytes - std::min(console, status.console_bytes), kept);
    json["console"] = to_utf8(for_terminal(std::string_view(status.console).substr(kept - more)));
    json["console_begins"] = console + more != status.console_bytes;
    console = status.console_bytes;
    const std::lock_guard lock(mutex_);
    refresh();
    json["rates"] = json_rates(rates_);
    json["stopped"] = now_.report && now_.report->target.stopped_ns;
    json["view"] = number_;
    return json_line(json);
}

}  // namespace nopscope::host
