// SPDX-License-Identifier: Apache-2.0
// `top` shows a running target in a terminal. With --once it prints one view.
#include <langinfo.h>
#include <signal.h>
#include <unistd.h>

#include <clocale>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <tuple>

#include "host-tools/base/interrupt.hpp"
#include "host-tools/base/output.hpp"
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/commands/load.hpp"
#include "host-tools/cli/control_options.hpp"
#include "host-tools/live/live.hpp"
#include "host-tools/views/top/frame.hpp"
#include "host-tools/views/top/once.hpp"
#include "host-tools/views/top/rows.hpp"
#include "host-tools/views/top/terminal.hpp"

namespace nopscope::host {
namespace {

struct TopOptions {
    LiveOptions live;
    double interval = 1;  // seconds between two updates
    bool once = false;    // one view, without a terminal
    double after = 2;     // with `once`: seconds before the view
    Format format = Format::text;
    std::size_t top = 0;  // functions; 0: all
    top::Column sort = top::Column::now;
    bool raw = false;
    bool mouse = true;
};

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// The locale gives characters their widths, and names are UTF-8.
void take_a_locale() {
    std::setlocale(LC_ALL, "");
    if (std::strcmp(nl_langinfo(CODESET), "UTF-8") != 0) std::setlocale(LC_CTYPE, "C.UTF-8");
    std::setlocale(LC_NUMERIC, "C");
}

std::string recording_path() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    char text[64];
    std::strftime(text, sizeof text, "nopscope-%Y%m%d-%H%M%S.nsc", &local);
    return text;
}

class Screen {
public:
    Screen(Live& live, const TopOptions& options) : live_(live), options_(options) {
        ui_.sort = options.sort;
        ui_.mouse = options.mouse;
        ui_.part = options.live.part;
        view_ = live_.view(options.raw);
    }

    void run() {
        refresh();
        while (!interrupted() && !over_) {
            const auto due =
                look_at_ + std::chrono::duration_cast<Clock::duration>(Seconds(options_.interval));
            const auto left =
                std::chrono::duration_cast<std::chrono::milliseconds>(due - Clock::now());
            const auto key = terminal_.key(std::clamp(left, 0ms, 100ms));
            if (key) on_key(*key);
            take_answer();
            if (Clock::now() - said_at_ > 10s && !answer_.valid()) ui_.message.clear();
            if (Clock::now() >= due && !ui_.paused) refresh();
            show();
        }
    }

private:
    void refresh() {
        LiveView view = live_.view(options_.raw);
        rates_ = rates_between(view_, view);
        view_ = std::move(view);
        look_at_ = Clock::now();
        ui_.recording = view_.status.recording.on;
        list();
    }
    void list() {
        lines_.functions = top::function_lines(view_, rates_);
        top::sort_lines(lines_.functions, ui_.sort, ui_.reversed);
        lines_.tree.clear();
        if (ui_.view == top::View::tree) lines_.tree = top::tree_lines(view_, ui_.toggled);
        lines_.tasks.clear();
        if (ui_.view == top::View::tasks) lines_.tasks = top::task_rows(view_, rates_);
    }
    void show() {
        terminal_.use_mouse(ui_.mouse);
        terminal_.show(top::draw(ui_, lines_, view_, rates_, terminal_.size()));
    }

    void on_key(const top::Key& key) {
        const auto shown = std::tuple(ui_.view, ui_.sort, ui_.reversed, ui_.toggled);
        const auto act = top::on_key(ui_, key, lines_, recording_path());
        if (shown != std::tuple(ui_.view, ui_.sort, ui_.reversed, ui_.toggled)) list();
        if (!act) return;
        try {
            std::visit([this](const auto& what) { perform(what); }, *act);
        } catch (const Error& error) {
            say(error.what(), true);
        }
    }
    void perform(top::Quit) { over_ = true; }
    void perform(const ControlRequest& request) {
        asked_ = request.words.front();
        if (request.words.size() > 1) asked_ += " " + request.words[1];
        say(asked_ + " ...", false);
        answer_ = live_.ask(request);
    }
    void perform(const top::StartRecording& what) {
        if (std::filesystem::exists(what.path))
            throw Error(what.path + " is there already: choose another name");
        live_.start_recording(what.path);
        ui_.recording = true;
        view_.status.recording.on = true;
        view_.status.recording.path = what.path;
        say("recording into " + what.path, false);
    }
    void perform(top::StopRecording) {
        ui_.recording = false;
        const SideRecording done = live_.stop_recording();
        view_.status.recording = done;
        say(fmt::format("{}: {} records", done.path, with_commas(done.records)), false);
    }
    void perform(const top::ShowPart& what) {
        live_.show(what.part);
        ui_.part = what.part;
        refresh();
        const std::string text = part_text(what.part);
        say(text.empty() ? "all cores and tasks" : "only " + text + ", from now on", false);
    }
    void take_answer() {
        if (!answer_.valid() || answer_.wait_for(0s) != std::future_status::ready) return;
        const ControlAnswer answer = answer_.get();
        say(asked_ + ": " + answer.text, answer.status != Exit::ok);
        if (view_.status.begin.number != live_.status().begin.number) refresh();
    }
    void say(const std::string& sentence, bool bad) {
        ui_.message = sentence;
        ui_.message_is_bad = bad;
        said_at_ = Clock::now();
    }

    Live& live_;
    const TopOptions& options_;
    top::Terminal terminal_;
    top::Ui ui_;
    LiveView view_;
    Clock::time_point look_at_{};
    Rates rates_;
    top::Lines lines_;
    std::future<ControlAnswer> answer_;
    std::string asked_;
    Clock::time_point said_at_{};
    bool over_ = false;
};

// Waits for `seconds`, or until nothing more can come.
void wait(Live& live, double seconds) {
    const auto end = Clock::now() + Seconds(seconds);
    while (!interrupted() && Clock::now() < end) {
        const LineState state = live.status().state;
        if (state == LineState::over || state == LineState::failed) return;
        usleep(20'000);
    }
}

void once(Live& live, const TopOptions& options) {
    wait(live, options.after);
    const LiveView before = live.view(options.raw);
    wait(live, options.interval);
    const LiveView view = live.view(options.raw);
    if (view.status.state == LineState::failed || !view.report) throw Error(view.status.sentence);
    // If the line ended before the first view, the rates are averages since the beginning.
    const Rates rates = rates_between(before, view);
    top::Lines lines{.functions = top::function_lines(view, rates), .tree = {}, .tasks = {}};
    top::sort_lines(lines.functions, options.sort, false);
    if (options.format == Format::json) {
        print(top::json_once(lines.functions, view, rates, options.top));
    } else {
        print(top::text_of(top::draw_once(lines, view, rates, options.sort, options.top, 110)));
    }
}

Exit watch(const TopOptions& options) {
    if (!options.once && (isatty(STDOUT_FILENO) == 0 || isatty(STDIN_FILENO) == 0)) {
        throw Error(
            "standard input and output are no terminal: give --once to look once, without one",
            Exit::usage);
    }
    take_a_locale();
    catch_interrupts({SIGQUIT});
    Live live(options.live);
    if (options.once) {
        once(live, options);
    } else {
        Screen(live, options).run();
    }
    // One Ctrl-C may have chosen the end. A second one gives up, even if it came before this.
    const int before = std::min(interruptions(), 1);
    const Exit ended = finish_recording(live, [before] { return interruptions() > before; });
    const LiveStatus status = live.status();
    if (status.state == LineState::failed) throw Error(status.sentence);
    return ended;
}

}  // namespace

Action add_top(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<TopOptions>();
    auto sort = std::make_shared<std::string>(top::head_of(options->sort));
    command = add_command(
        app, "top", "Watch a running target in the terminal",
        {"nopscope top --from serial:/dev/ttyUSB0?baud=1500000 --image firmware.elf",
         "nopscope top --from tcp:localhost:4444 --image firmware.elf --once --format json"},
        "Press ? for its keys. Details: docs/top.md.");
    add_line(command, options->live.line, "The ELF that runs there: names of functions");
    add_value(command, "-o,--output", options->live.record, kind::recording,
              "Record the line on the side, too");
    add_seconds(command, "--interval", options->interval, 0.1, 3600,
                "Seconds between two updates (1)");
    std::vector<std::string> columns;
    for (const top::Column column : top::all_columns) columns.emplace_back(top::head_of(column));
    add_word(command, "--sort", *sort, columns, "By this column (now)");
    add_value(
        command, "--idle", options->live.idle, kind::glob,
        "Functions of a core that has nothing to do, globs (*idle* *wfi* *wait_for_interrupt*)");
    command->add_option("--core", options->live.part.core, "Only this core; in top, C changes it")
        ->transform(whole_number(0, 255))
        ->type_name("N");
    add_value(command, "--task", options->live.part.task, kind::glob,
              "Only the tasks with this name or number; in top, T changes it");
    command->add_flag("!--no-mouse", options->mouse,
                      "Leave the mouse to the terminal, which then selects text");
    add_raw(command, options->raw);
    add_on_cpu(command, options->live.on_cpu);
    command->add_flag("--once", options->once,
                      "Print one view; for scripts, no terminal is needed");
    add_seconds(command, "--delay", options->after, 0, longest_seconds,
                "--once: seconds before it begins (2)");
    add_choice(command, "--format", options->format, formats_without_csv, "--once: output");
    add_count(command, "--top", options->top, 1, most_rows,
              "--once: only the first so many functions");
    const auto read_steering = add_steering(command, options->live.line);
    return [options, sort, read_steering] {
        options->sort = top::column_named(*sort);
        read_steering();
        return watch(*options);
    };
}

}  // namespace nopscope::host
