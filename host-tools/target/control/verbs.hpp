// SPDX-License-Identifier: Apache-2.0
// Everything that a host can ask of a running target, in one table. From it come `ctl VERB`, the
// options --VERB of `record`, `top` and `serve`, keys of `top`, the controls of `serve`'s page, and
// what --help, man pages and completions say of them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host-tools/target/control/client.hpp"
#include "host-tools/target/control/request.hpp"
#include "host-tools/target/stream/session.hpp"
#include "tracer/protocol/recorders.hpp"

namespace nopscope::host {

struct TargetSide {
    CommandClient& client;
    const Symbols* symbols;  // of the target's image; null: none were given
    const HelloInfo& hello;  // the last one; empty before the first
};

// What stands behind a verb.
struct Argument {
    const char* text = "";  // for help
    std::size_t least = 0;  // words
    std::size_t most = 0;
    std::vector<std::string> (*values)() = nullptr;  // null: no words that could be listed
    bool has_other_values = true;
    // `words`: a request's, the verb first. Throws Error, Exit::usage.
    void (*check)(const std::vector<std::string>& words) = nullptr;
};

// The version of nopscope that has no old names any more: docs/versions.md.
inline constexpr char old_options_end[] = "0.4.0";

struct Verb {
    const char* name;
    const char* help;            // what it does
    const char* more_help = "";  // follows it, for ctl
    Argument argument = {};
    std::string (*perform)(const ControlRequest&, const TargetSide&);  // returns what to print
    bool chooses = false;       // functions, with --notrace and --size-above
    bool has_recorder = false;  // --recorder and --also
    // --NAME of the commands that read a line, which ask it in the table's order.
    bool is_option = false;
    const char* old_option = nullptr;             // the option's name before 0.2.0
    std::optional<protocol::Recorder> recorder = {};  // that the option means if none is given
    char key = '\0';                              // of top; '\0': none
    bool is_numbered = false;                     // top numbers it from 1
    bool is_on_page = false;                      // of serve
};

std::span<const Verb> verbs();
std::vector<std::string> verb_names();
std::vector<std::string> mode_names();
std::vector<std::string> recorder_names();

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

}  // namespace nopscope::host
