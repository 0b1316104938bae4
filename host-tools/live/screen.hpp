// SPDX-License-Identifier: Apache-2.0
// Shows a recording to a person: the firmware's console on standard output, progress and sentences
// on standard error. Only finish() waits for an output.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "host-tools/base/display.hpp"

namespace nopscope::host {

class Screen {
public:
    // `quiet`: shows sentences only.
    explicit Screen(bool quiet);

    // Shows the firmware's text. Its bytes come from outside.
    void console(std::string_view text);
    // One line that the next one replaces. Only on a terminal, and while that accepts output.
    bool wants_progress() const;
    void progress(const std::string& line);
    void clear_progress();
    // One sentence for a person.
    void say(const std::string& sentence);

    // Shows what is pending, and says what was not shown. Waits for each output: five seconds if it
    // accepts nothing, 300 ms after a signal. Returns false if standard output could not be
    // written; a sentence has said so.
    bool finish();

private:
    bool has_failed();
    Display& errors() { return errors_ ? *errors_ : output_; }
    const Display& errors() const { return errors_ ? *errors_ : output_; }

    const bool quiet_;
    const bool on_terminal_;
    Display output_;
    std::optional<Display>
        errors_;  // nothing: the same terminal or file as output_, which keeps the order
    bool line_drawn_ = false;
    bool failure_said_ = false;
};

}  // namespace nopscope::host
