// SPDX-License-Identifier: Apache-2.0
// What each command includes, and the list of commands. To add one, declare it here, name it in its
// group, and write host-tools/cli/commands/NAME.cpp.
#pragma once

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <functional>
#include <vector>

#include "host-tools/base/error.hpp"
#include "host-tools/base/output.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/cli/options.hpp"

namespace nopscope::host {

using Action = std::function<Exit()>;
// Adds a command to `app` and sets `command` to it. Returns the function that runs the command;
// call it after CLI11 has parsed the options.
using AddCommand = Action(CLI::App& app, CLI::App*& command);

AddCommand add_record, add_top, add_serve;
AddCommand add_report, add_graph, add_replay, add_callers, add_callees, add_latency, add_outliers,
    add_tasks, add_irq, add_stack_depth, add_diff, add_query, add_info;
AddCommand add_html, add_export;
AddCommand add_ctl, add_events;
AddCommand add_check, add_names;
AddCommand add_doctor, add_help;
AddCommand add_reference;

struct CommandGroup {
    const char* name;  // in --help; empty: hidden
    std::vector<AddCommand*> commands;
};
inline std::vector<CommandGroup> command_groups() {
    return {
        {"Record and watch", {add_record, add_top, add_serve}},
        {"Look at a recording",
         {add_report, add_graph, add_replay, add_callers, add_callees, add_latency, add_outliers,
          add_tasks, add_irq, add_stack_depth, add_diff, add_query, add_info}},
        {"Export a recording", {add_html, add_export}},
        {"Ask a target", {add_ctl, add_events}},
        {"Look at an image", {add_check, add_names}},
        {"Help", {add_doctor, add_help}},
        {"", {add_reference}},
    };
}

}  // namespace nopscope::host
