// SPDX-License-Identifier: Apache-2.0
// What a person asks of a target, and the commands on the line that it takes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host-tools/target/control/choice.hpp"
#include "host-tools/target/control/client.hpp"
#include "host-tools/target/stream/session.hpp"

namespace nopscope::host {

struct ControlRequest {
    std::vector<std::string> words;  // a verb and its arguments: docs/cli.md
    Choice choice = {};              // of trace; its filter is the verb's arguments
    std::string recorder = {};       // of trace; empty: the one that was set last
    bool also = false;               // of trace: other functions stay as they are
};

struct TargetSide {
    CommandClient& client;
    const Symbols* symbols;  // of the target's image; null: none were given
    const HelloInfo& hello;  // the last one; empty before the first
};

// Throws Error, Exit::usage, where the words make no sense.
void check(const ControlRequest& request);
// Likewise, where its globs name no function of the image; null: none was given. Before a line is
// opened or a command started, so that a slip of the keyboard costs nothing.
void check_names(const ControlRequest& request, const Symbols* symbols);
struct Performed {
    std::string text;   // a line or a few to print
    bool late = false;  // a core did not answer in time; `text` says so, too
};
// Carries out the request. Throws Error.
Performed perform(const ControlRequest& request, const TargetSide& target);

// The verbs with their arguments, for --help; and alone.
const char* control_verbs();
std::vector<std::string> verb_names();
// What a verb's arguments are, if they are a few words; else empty.
std::vector<std::string> verb_values(std::string_view verb);
// What `mode` and trace's recorder take.
std::vector<std::string> mode_names();
std::vector<std::string> recorder_names();

// To and from a line of JSON, for a recorder's control socket. Throws Error.
std::string to_json(const ControlRequest& request);
ControlRequest control_request(std::string_view json);

}  // namespace nopscope::host
