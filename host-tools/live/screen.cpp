// SPDX-License-Identifier: Apache-2.0
#include "host-tools/live/screen.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"
#include "host-tools/base/interrupt.hpp"
#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

using namespace std::chrono_literals;

constexpr auto silence = 5s;  // finish() gives up an output that accepts nothing for so long
constexpr auto after_a_signal = 300ms;  // for each output

}  // namespace

Screen::Screen(bool quiet)
    : quiet_(quiet), on_terminal_(isatty(STDERR_FILENO) != 0), output_(STDOUT_FILENO) {
    if (!is_same_file(STDOUT_FILENO, STDERR_FILENO)) errors_.emplace(STDERR_FILENO);
}

void Screen::console(std::string_view text) {
    if (quiet_) return;
    if (has_failed()) return;
    clear_progress();
    output_.show(for_terminal(text));
}

// Reports a failure once.
bool Screen::has_failed() {
    const int error = output_.error();
    if (error != 0 && !std::exchange(failure_said_, true)) {
        say("cannot write standard output: " + system_error(error) +
            "; the recording has the rest of the console");
    }
    return error != 0;
}

bool Screen::wants_progress() const { return !quiet_ && on_terminal_ && !errors().is_behind(); }

void Screen::progress(const std::string& line) {
    errors().show("\r\x1b[K" + line);
    line_drawn_ = true;
}

void Screen::clear_progress() {
    if (line_drawn_) errors().show("\r\x1b[K");
    line_drawn_ = false;
}

void Screen::say(const std::string& sentence) {
    clear_progress();
    errors().show("nopscope: " + for_terminal(sentence) + "\n");
}

bool Screen::finish() {
    clear_progress();
    std::chrono::steady_clock::time_point since{};
    const auto give_up = [&] {
        const auto now = std::chrono::steady_clock::now();
        if (interrupted() && since == std::chrono::steady_clock::time_point{}) since = now;
        return interrupted() && now - since > after_a_signal;
    };
    if (errors_) output_.finish(silence, give_up);
    const bool failed = has_failed();
    if (const std::uint64_t hidden = output_.hidden_bytes(); hidden != 0) {
        say(
            fmt::format("{} bytes of the console are not shown, because standard output took "
                        "nothing meanwhile; the "
                        "recording has them",
                        with_commas(hidden)));
    }
    if (errors_) since = {};
    errors().finish(silence, give_up);
    return !failed;
}

}  // namespace nopscope::host
