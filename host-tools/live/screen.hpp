// SPDX-License-Identifier: Apache-2.0
// What a person sees of a recording: the firmware's console on standard output, progress and
// sentences on standard error. Nothing here waits for either but finish().
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "host-tools/base/display.hpp"

namespace nopscope::host {

class Screen {
public:
    // `quiet`: sentences only.
    explicit Screen(bool quiet);

    // The firmware's text: outside bytes.
    void console(std::string_view text);
    // One line that the next one replaces; only on a terminal. Left out while the terminal takes
    // nothing.
    bool wants_progress() const;
    void progress(const std::string& line);
    void clear_progress();
    // One sentence for a person.
    void say(const std::string& sentence);

    // Shows the rest, and says what was not shown. Waits up to five seconds for an output that
    // takes nothing, and 300 ms for each once a signal has come.
    // Returns false if standard output could not be written; a sentence has said so.
    bool finish();

private:
    bool has_failed();
    Display& errors() { return errors_ ? *errors_ : output_; }
    const Display& errors() const { return errors_ ? *errors_ : output_; }

    const bool quiet_;
    const bool on_terminal_;
    Display output_;
    std::optional<Display>
        errors_;  // nothing: it is the same terminal or file, so the order is kept
    bool line_drawn_ = false;
    bool failure_said_ = false;
};

}  // namespace nopscope::host
