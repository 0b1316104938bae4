// SPDX-License-Identifier: Apache-2.0
#include "host-tools/live/live.hpp"

#include <fmt/format.h>

#include <ctime>
#include <sstream>

#include "host-tools/base/error.hpp"
#include "host-tools/base/memory.hpp"
#include "host-tools/base/or_throw.hpp"
#include "host-tools/base/output.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/command/verbs.hpp"
#include "host-tools/figures/report/make_report.hpp"
#include "host-tools/image/function_names.hpp"

namespace nopscope::host {
namespace {

using namespace std::chrono_literals;

bool comes_back(const std::string& uri) {
    return uri.starts_with("serial:") || uri.starts_with("tcp:") || uri.starts_with("unix:");
}

std::string why_waiting(const StreamCounters& stream, const LineReader& line) {
    if (stream.sessions == 0) return line.diagnosis().sentence();
    if (stream.other_image_sessions != 0)
        return "the target was reset into another image, which is left out";
    return "the target was reset, and its hello is not heard yet";
}

std::future<ControlAnswer> answered(const ControlAnswer& answer) {
    std::promise<ControlAnswer> promise;
    promise.set_value(answer);
    return promise.get_future();
}

// `idle`: globs of functions.
void add_busy_ticks(LiveView& view, const std::vector<std::string>& idle) {
    std::vector<bool> is_idle;
    for (const FunctionRow& row : view.report->by_number) {
        is_idle.push_back(std::any_of(idle.begin(), idle.end(),
                                      [&](const auto& glob) { return names_function(glob, row); }));
    }
    for (CoreStatus& core : view.status.cores)
        core.busy_ticks = view.profile->self_ticks_of(core.number, is_idle);
}

}  // namespace

const char* name_of(LineState state) {
    static constexpr const char* names[] = {"waiting", "running", "finished",
                                            "lost",    "over",    "failed"};
    return names[static_cast<std::size_t>(state)];
}

std::string clock_text(const FiguresBegin& begin) {
    const std::time_t time = std::chrono::system_clock::to_time_t(begin.time);
    std::tm local{};
    localtime_r(&time, &local);
    char text[16];
    std::strftime(text, sizeof text, "%H:%M:%S", &local);
    return text;
}

Live::Live(LiveOptions options)
    : options_(std::move(options)), symbols_(symbols_of(options_.line)) {
    options_.line.steering.check_names(symbols());
    const bool one_way = goes_one_way(options_.line);
    takes_commands_ = !one_way;
    // If commands are asked for and cannot be sent, open_line() says so.
    const Way way = one_way && !options_.line.steering.steers() ? Way::in : Way::both;
    start(
        [this, way] {
            return open_line(
                options_.line, way, [this](const auto& sentence) { note(sentence); }, Errors::kept);
        },
        comes_back(options_.line.from));
}

Live::Live(LiveOptions options, ReconnectingSource::Open open, bool comes_back)
    : options_(std::move(options)), takes_commands_(true) {
    start(std::move(open), comes_back);
}

void Live::start(ReconnectingSource::Open open, bool comes_back) {
    profile_.count_durations();
    if (options_.on_cpu) profile_.time_on_cpu();
    profile_.know_code(code_of_calls([this] { return symbols(); }));
    begin_ = begin_now("");
    if (options_.timeline) {
        timeline_.expect_names();
        profile_.tell(feed_);
    }
    if (comes_back) {
        auto lasting = std::make_unique<ReconnectingSource>(std::move(open));
        lasting_ = lasting.get();
        source_ = std::move(lasting);
    } else {
        source_ = open();
    }
    line_ = std::make_unique<LineReader>(*source_, tee_);
    if (!options_.part.whole()) show_locked(options_.part);
    if (takes_commands_) {
        steering_ = std::make_unique<Steering>(
            *source_, symbols(), options_.line.steering, [this] { return turn(); },
            [this](const auto& sentence) { note(sentence); }, static_cast<Figures*>(this));
        watch_.steering = steering_.get();
        steers_ = options_.line.steering.steers();
    }
    tee_.add(ending_);
    if (!options_.record.empty()) start_recording(options_.record);
    thread_ = std::thread([this] { run(); });
}

Live::~Live() {
    stop_ = true;
    thread_.join();
}

FiguresBegin Live::begin_now(const std::string& request) {
    return {.number = ++begins_,
            .at = std::chrono::steady_clock::now(),
            .time = std::chrono::system_clock::now(),
            .request = request};
}

void Live::zero(const std::string& request, std::optional<std::uint64_t> clock) {
    const std::lock_guard lock(mutex_);
    if (end_state_ != LineState::waiting)
        throw Error("nothing more comes to be counted: " + end_sentence_);
    profile_.zero(clock);
    if (part_) (*part_).zero(profile_.zero_clock());
    cores_at_zero_.clear();
    cores_at_zero_ = cores_locked();
    session_at_zero_ = line_->reader().counters().sessions;
    counters_.begin(line_->reader());
    losses_at_zero_ = losses_;
    begin_ = part_begin_ = begin_now(request);
}

void Live::show(const Part& part) {
    const std::lock_guard lock(mutex_);
    const SessionReader& reader = line_->reader();
    if (part.core && reader.has_session() && *part.core >= reader.hello().cores) {
        throw Error(fmt::format("there is no core {}: the target has {}, from 0", *part.core,
                                reader.hello().cores),
                    Exit::usage);
    }
    show_locked(part);
}

void Live::show_locked(const Part& part) {
    if (part_) figures_.remove(*part_);
    part_.reset();
    shown_part_ = part;
    begin_.number = ++begins_;
    if (part.whole()) return;
    part_ = std::make_unique<Profile>(profile_);
    part_->show(or_throw(PartFilter::of(
        part, [this] { return symbols(); }, profile_.tasks())));
    part_->zero();
    figures_.add(*part_);
    part_begin_ = begin_now("");
}

void Live::run() {
    try {
        read_to_the_end([this] { return turn(); }, [this] { between_turns(); });
        end(LineState::over, "the line is over");
    } catch (const std::exception& error) {
        end(LineState::failed, sentence_of(error));
    }
}

// Runs once. Answers the open requests with `sentence`. close() takes seconds if a command does not
// end, so no lock is held meanwhile.
void Live::end(LineState state, std::string sentence) {
    {
        const std::lock_guard lock(asked_mutex_);
        takes_no_more_ = true;
        for (Asked& asked : asked_) asked.answer.set_value({Exit::input, sentence});
        asked_.clear();
    }
    const std::optional<int> status = source_->close();
    const std::string errors = take_errors();
    const std::lock_guard lock(mutex_);
    watch_.on_raw_text(errors);
    if (state == LineState::over && line_->reader().counters().sessions == 0) {
        sentence += ": " + line_->diagnosis().sentence();
    }
    if (status.value_or(0) != 0) {
        sentence += fmt::format("; the command ended with exit status {}", *status);
        if (!last_error_.empty()) sentence += ": " + last_error_;
    }
    cores_at_end_ = cores_locked();
    end_state_ = state;
    end_sentence_ = sentence;
    line_->finish();
    if (recording_)
        end_recording(stop_ ? nsc::EndReason::interrupted : nsc::EndReason::line_closed);
}

// The text also goes to standard error, which `top` keeps while it has the screen.
std::string Live::take_errors() {
    std::string errors = source_->take_errors();
    if (errors.empty()) return errors;
    fmt::print(stderr, "{}", for_terminal(errors));
    std::istringstream lines(errors);
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty()) last_error_ = line;
    }
    return errors;
}

bool Live::turn() {
    if (stop_) return false;
    const Source::Result got = line_->wait(50ms);
    const auto now = LineReader::Clock::now();
    const std::string errors = take_errors();
    const std::lock_guard lock(mutex_);
    watch_.on_raw_text(errors);
    if (lasting_ != nullptr) {
        why_lost_ = lasting_->is_lost() ? lasting_->why() : "";
        losses_ = lasting_->losses();
        if (losses_ != losses_taken_) line_->cut();
        losses_taken_ = losses_;
    }
    line_->take(now);
    write_tape(now);
    return !got.closed;
}

void Live::between_turns() {
    if (!steering_) return;
    if (auto asked = next_asked()) {
        const ControlAnswer answer =
            asked->is_end ? end_of_recording() : steering_->answer(asked->request);
        steers_ |= answer.status == Exit::ok && !asked->is_end;
        asked->answer.set_value(answer);
    }
    if (!steers_) return;
    std::uint64_t gaps = 0;
    {
        const std::lock_guard lock(mutex_);
        gaps = line_->reader().counters().gaps;
    }
    steering_->serve(gaps);
}

ControlAnswer Live::end_of_recording() {
    if (!ending_.can_ask() && !steers_) return {Exit::ok, ending_.unread()};
    const Ending::Line line{.client = steering_->client(),
                            .turn = [this] { return turn(); },
                            .frames =
                                [this] {
                                    const std::lock_guard lock(mutex_);
                                    return line_->reader().line().frames;
                                },
                            .tell =
                                [this](const ClockPair& pair) {
                                    const std::lock_guard lock(mutex_);
                                    tee_.on_clock_pair(pair);
                                }};
    const std::string sentence = ending_.run(line, options_.line.keep_tracing);
    return {sentence.empty() || stop_ ? Exit::ok : Exit::input, sentence};
}

ControlAnswer Live::end_recording(const std::function<bool()>& give_up) {
    std::future<ControlAnswer> answer;
    {
        const std::lock_guard lock(asked_mutex_);
        if (takes_no_more_) return {};
        if (!takes_commands_) return {Exit::ok, ending_.unread()};
        answer = asked_.emplace_back(Asked{.request = {}, .is_end = true, .answer = {}})
                     .answer.get_future();
    }
    while (answer.wait_for(50ms) != std::future_status::ready) {
        if (give_up()) stop_ = true;
    }
    return answer.get();
}

std::optional<Live::Asked> Live::next_asked() {
    const std::lock_guard lock(asked_mutex_);
    if (asked_.empty()) return std::nullopt;
    std::optional<Asked> first(std::move(asked_.front()));
    asked_.pop_front();
    return first;
}

void Live::note(const std::string& sentence) {
    const std::lock_guard lock(mutex_);
    note_ = sentence;
}

std::future<ControlAnswer> Live::ask(ControlRequest request) {
    try {
        check(request);
        if (!needs_target(request)) return answered({Exit::ok, perform_here(request, this)});
        if (!takes_commands_) {
            throw Error(options_.line.from +
                            ": commands cannot be sent there: take serial:, tcp:, unix: or exec:",
                        Exit::usage);
        }
        const std::lock_guard lock(asked_mutex_);
        if (takes_no_more_) throw Error("the line is over");
        return asked_.emplace_back(Asked{.request = std::move(request), .answer = {}})
            .answer.get_future();
    } catch (const Error& error) {
        return answered({error.code(), error.what()});
    }
}

void Live::write_tape(LineReader::Clock::time_point now) {
    if (!recording_) return;
    try {
        recording_->flush_if_due(line_->reader(), now);
    } catch (const Error& error) {
        drop_recording();
        last_recording_.error = error.what();
    }
}

void Live::start_recording(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (recording_) throw Error("a recording is on already, to " + recording_->path(), Exit::usage);
    if (end_state_ != LineState::waiting)
        throw Error("there is nothing to record: " + end_sentence_);
    recording_ = std::make_unique<LiveRecording>(path, options_.line.from, symbols());
    recording_->begin_within(line_->reader(), [this](unsigned core) {
        return figures_.waiting_context(core).value_or(profile_.context_of(core));
    });
    tee_.add(recording_->sink());
}

SideRecording Live::stop_recording() {
    const std::lock_guard lock(mutex_);
    if (!recording_) throw Error("no recording is on", Exit::usage);
    end_recording(nsc::EndReason::interrupted);
    if (!last_recording_.error.empty()) throw Error(last_recording_.error);
    return last_recording_;
}

std::unique_ptr<LiveRecording> Live::drop_recording() {
    last_recording_ = recording_locked();
    last_recording_.on = false;
    tee_.remove(recording_->sink());
    return std::move(recording_);
}

void Live::end_recording(nsc::EndReason reason) {
    const std::unique_ptr<LiveRecording> recording = drop_recording();
    try {
        recording->end(line_->reader(), reason, std::nullopt);
        last_recording_.file_bytes = recording->file_bytes();
        if (!recording->has_file())
            last_recording_.error =
                "no session was heard: nothing is recorded into " + recording->path();
    } catch (const Error& error) {
        last_recording_.error = error.what();
    }
}

SideRecording Live::recording_locked() const {
    if (!recording_) return last_recording_;
    return {.path = recording_->path(),
            .on = true,
            .line_bytes = recording_->line(line_->reader()).bytes,
            .file_bytes = recording_->file_bytes(),
            .records = recording_->stream(line_->reader()).delivered,
            .error = {}};
}

LiveStatus Live::status_locked() const {
    const SessionReader& reader = line_->reader();
    const StreamCounters& all = reader.counters();
    LiveStatus status;
    status.at = std::chrono::steady_clock::now();
    status.from = options_.line.from;
    status.begin = part_ ? part_begin_ : begin_;
    status.part = part_text(shown_part_);
    status.losses = losses_ - losses_at_zero_;
    status.note = note_;
    status.line = counters_.line(reader);
    status.stream = counters_.stream(reader);
    status.resets = status.stream.sessions == 0 ? 0 : status.stream.sessions - 1;
    status.console = watch_.console();
    status.console_bytes = watch_.console_bytes();
    status.recording = recording_locked();
    status.takes_commands = takes_commands_;
    if (end_state_ != LineState::waiting) {
        status.state = end_state_;
        status.sentence = end_sentence_;
    } else if (!why_lost_.empty()) {
        status.state = LineState::lost;
        status.sentence = why_lost_;
    } else if (reader.has_session()) {
        status.state = reader.recording_is_over() ? LineState::finished : LineState::running;
    } else {
        status.sentence = why_waiting(all, *line_);
    }
    if (all.sessions != 0) status.hello = reader.hello();
    status.cores = end_state_ == LineState::waiting ? cores_locked() : cores_at_end_;
    return status;
}

std::vector<CoreStatus> Live::cores_locked() const {
    const SessionReader& reader = line_->reader();
    std::vector<CoreStatus> cores;
    for (unsigned number = 0; reader.has_session() && number < reader.hello().cores; ++number) {
        const StreamCounters of = reader.counters_of(number);
        const bool has_begun =
            number < cores_at_zero_.size() && session_at_zero_ == reader.counters().sessions;
        const CoreStatus before = has_begun ? cores_at_zero_[number] : CoreStatus{};
        cores.push_back({.number = number,
                         .records = since(of.delivered, before.records),
                         .dropped = since(of.dropped, before.dropped),
                         .overwritten = since(of.overwritten, before.overwritten),
                         .lost = since(of.lost, before.lost),
                         .busy_ticks = 0});
    }
    return cores;
}

LiveStatus Live::status() {
    const std::lock_guard lock(mutex_);
    return status_locked();
}

LiveView Live::view(bool raw) {
    LiveView view;
    std::unique_ptr<Profile> part;
    {
        const std::lock_guard lock(mutex_);
        view.status = status_locked();
        view.profile = std::make_unique<Profile>(profile_);
        if (part_) part = std::make_unique<Profile>(*part_);
        if (options_.timeline) view.timeline = std::make_unique<Timeline>(timeline_);
    }
    if (view.timeline) view.timeline->name_tasks(view.profile->tasks());
    const nsc::Counters counters{
        .file = {}, .line = view.status.line, .stream = view.status.stream};
    const auto report_of = [&](Profile& profile) {
        profile.on_session_end();
        if (profile.hello()) view.report = or_throw(make_report(profile, counters, symbols(), raw));
    };
    report_of(*view.profile);
    view.target_ticks = view.profile->duration_ticks();
    if (view.report) add_busy_ticks(view, options_.idle);
    if (!part) return view;
    view.profile = std::move(part);
    report_of(*view.profile);
    return view;
}

Exit finish_recording(Live& live, const std::function<bool()>& given_up) {
    ControlAnswer ended;
    if (live.status().recording.on) {
        ended = live.end_recording(given_up);
        if (!ended.text.empty()) say(ended.text);
    }
    SideRecording of = live.status().recording;  // the end of the line may have ended it
    if (of.on) of = live.stop_recording();
    if (!of.error.empty()) throw Error(of.error);
    if (!of.path.empty()) {
        say(fmt::format("{}: {} bytes, from {} bytes of the line; {} events", of.path,
                        with_commas(of.file_bytes), with_commas(of.line_bytes),
                        with_commas(of.records)));
    }
    return ended.status;
}

}  // namespace nopscope::host
