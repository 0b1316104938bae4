// SPDX-License-Identifier: Apache-2.0
// The commands that a host can send to a running target, in one table. It defines `ctl VERB`, the
// options --VERB of `record`, `top` and `serve`, keys of `top`, the controls of `serve`'s page, and
// their texts in --help, man pages and completions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host-tools/command/client.hpp"
#include "host-tools/command/request.hpp"
#include "host-tools/line/stream/session.hpp"
#include "tracer/protocol/recorders.hpp"

namespace nopscope::host {

struct TargetSide {
    CommandClient& client;
    const Symbols* symbols;      // of the target's image; null: no image was given
    const HelloInfo& hello;      // the last one; empty before the first
    Figures* figures = nullptr;  // null: this host shows none
};

// The argument of a verb.
struct Argument {
    const char* text = "";  // for help
    std::size_t least = 0;  // number of words
    std::size_t most = 0;
    std::vector<std::string> (*values)() = nullptr;  // words to offer; null: they cannot be listed
    bool has_other_values = true;
    // Returns what a command sends of it. `words`: the request's, with the verb first. Throws Error
    // (Exit::usage). Null: nothing, or names of functions.
    CommandClient::Bytes (*bytes)(const std::vector<std::string>& words) = nullptr;
};

struct Verb {
    const char* name;
    const char* help;            // what it does
    const char* more_help = "";  // continues `help`, in the help of ctl
    Argument argument = {};
    // Either the command that the request sends, with its argument's bytes; or what carries it out,
    // and returns what to print. Neither: a request that needs no target.
    std::optional<protocol::Command> command = {};
    std::string (*perform)(const ControlRequest&, const TargetSide&) = nullptr;
    bool is_for_target() const { return command || perform != nullptr; }
    bool filters = false;       // changes which calls are recorded: figures begin again
    bool chooses = false;       // takes globs of functions, --notrace and --size-above
    bool has_recorder = false;  // --recorder and --also
    // Commands that read a line have an option --NAME; they send such options in the table's order.
    bool is_option = false;
    // The recorder that the option uses if the user names none.
    std::optional<protocol::Recorder> recorder = {};
    char key = '\0';           // in top; '\0': none
    bool is_numbered = false;  // top gives it a number, from 1
    bool is_on_page = false;   // on the page of serve
};

std::span<const Verb> verbs();
std::vector<std::string> verb_names();
std::vector<std::string> mode_names();
std::vector<std::string> recorder_names();

// Throws Error (Exit::usage) if the words make no sense.
void check(const ControlRequest& request);
// Throws Error (Exit::usage) if a glob names no function of the image (null: no image was given).
// Call it before the line is opened or a command started, so that a typing error costs nothing.
void check_names(const ControlRequest& request, const Symbols* symbols);
struct Performed {
    std::string text;   // a line or a few to print
    bool late = false;  // a core did not answer in time; `text` says so, too
};
// False: the request is only for the host that shows figures, and perform_here() does it.
bool needs_target(const ControlRequest& request);
// `figures`: null if this host shows none. Returns what to print. Throws Error.
std::string perform_here(const ControlRequest& request, Figures* figures);
// Carries out the request. Throws Error.
Performed perform(const ControlRequest& request, const TargetSide& target);

}  // namespace nopscope::host
