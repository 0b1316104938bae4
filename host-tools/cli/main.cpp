// SPDX-License-Identifier: Apache-2.0
// The nopscope command: options in, one function call out, errors caught here and nowhere else.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "host-tools/base/memory.hpp"
#include "host-tools/base/output.hpp"
#include "host-tools/base/run_main.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/cli/defaults.hpp"
#include "host-tools/cli/generated/commands_of.hpp"
#include "host-tools/cli/generated/examples.hpp"
#include "host-tools/cli/generated/manual.hpp"
#include "host-tools/cli/generated/reference.hpp"
#include "host-tools/cli/input_guard.hpp"
#include "host-tools/cli/old_spellings.hpp"
#include "host-tools/cli/options.hpp"
#include "host-tools/cli/usage.hpp"
#include "host-tools/cli/version.hpp"

namespace {

using namespace nopscope::host;

constexpr char board_help[] = "Defaults of this board, from nopscope.toml";

// Hidden: of the build.
Action add_reference(CLI::App& app, CLI::App*& command) {
    auto directory = std::make_shared<std::string>();
    command = app.add_subcommand("reference", "Write man pages and completions");
    command->add_option("directory", *directory, "Where share/ is")->required();
    return [&app, directory] {
        write_reference(app, *directory);
        return Exit::ok;
    };
}

// Hidden: of the completions, for --board.
Action add_boards(CLI::App& app, CLI::App*& command) {
    command = app.add_subcommand("boards", "List the boards of nopscope.toml");
    return [] {
        if (const std::string file = defaults_file(); !file.empty()) {
            for (const std::string& board : boards_of(file)) print(board + "\n");
        }
        return Exit::ok;
    };
}

// Each command that reads a recording, a line or an image has --memory.
void add_memory(CLI::App& command, std::string& memory) {
    const std::string& name = command.get_name();
    if (name == "ctl" || name == "doctor" || name == "events" || name == "reference" || name == "boards" || name == "help") return;
    command.add_option("--memory", memory, "The most memory that it may take, such as 2GB (300MB)")
        ->type_name("SIZE")
        ->check([](const std::string& text) -> std::string {
            const auto bytes = read_size(text);
            if (bytes && *bytes >= least_memory_bytes) return {};
            return fmt::format("expected a size of at least {} MB, such as 500MB or 2GB, not {}", least_memory_bytes / 1'000'000,
                               for_cell(text));
        });
}

void start_memory_limit(const CLI::App& command, const std::string& memory) {
    constexpr unsigned most_threads = 32;  // of `serve`: 16 connections, and some more
    const std::string& name = command.get_name();
    limit_memory(memory.empty() ? default_memory_bytes : read_size(memory).value());
    if (name == "record" || name == "top" || name == "serve" || name == "ctl" || name == "doctor") allow_threads(most_threads);
}

class HelpFormatter final : public CLI::Formatter {
public:
    // Which options exclude each other is said when both are given: serve's are too many for the help.
    std::string make_option_opts(const CLI::Option* option) const override {
        std::string text = Formatter::make_option_opts(option);
        return text.substr(0, text.find(" Excludes:"));
    }
};

Action add_help(CLI::App& app, CLI::App*& command) {
    auto about = std::make_shared<std::string>();
    command = app.add_subcommand("help", "Say what there is, or what a command takes");
    command->add_option("command", *about, "Its name")->type_name(kind::command);
    return [&app, about] {
        const CLI::App* const one = about->empty() ? &app : find_command(app, *about);
        if (one == nullptr) throw Error(unknown_command(app, *about), Exit::usage);
        print(one->get_formatter()->make_help(one, one == &app ? "nopscope" : "nopscope " + *about, CLI::AppFormatMode::Normal));
        return Exit::ok;
    };
}

// The options that each command has, and how CLI11 is to take a command's own.
void finish_command(CLI::App& command, std::string& board) {
    command.add_option("--board", board, board_help)->type_name(kind::board)->configurable(false);
    command.set_version_flag("--version", version_lines())->group("");
    for (CLI::Option* const option : all_options(command)) {
        // Else `html --source-root DIR FILE` takes FILE for a second DIR.
        if (!option->get_positional() && option->get_name() != "--after") option->allow_extra_args(false);
    }
    command.footer(examples_of(command.get_name()) + "\n" + command.get_footer());
}

struct CommandGroup {
    const char* name;  // in --help; empty: hidden
    std::vector<Action (*)(CLI::App&, CLI::App*&)> commands;
};
std::vector<CommandGroup> command_groups() {
    return {
        {"Record and watch", {add_record, add_top, add_serve}},
        {"Look at a recording",
         {add_report, add_graph, add_callers, add_callees, add_latency, add_outliers, add_irq,
          add_stack_depth, add_diff, add_query, add_info}},
        {"Export a recording", {add_html, add_export}},
        {"Ask a target", {add_ctl, add_events}},
        {"Look at an image", {add_check, add_names}},
        {"Help", {add_doctor, add_help}},
        {"", {add_reference, add_boards}},
    };
}

// Never returns the codes of CLI11.
[[noreturn]] void refuse(const CLI::App& app, const CLI::ParseError& error, const std::string& defaults) {
    if (dynamic_cast<const CLI::FileError*>(&error) == nullptr) throw Error(usage_sentence(app, error), Exit::usage);
    const bool is_missing = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::FileError);
    throw Error(is_missing ? "cannot open " + defaults : error.what(), is_missing ? Exit::input : Exit::usage);
}

int run(int argc, char** argv) {
    CLI::App app("nopscope: a function profiler for arm64 firmware", "nopscope");
    app.formatter(std::make_shared<HelpFormatter>());
    app.set_version_flag("--version", version_lines());
    std::string board, memory;
    app.add_option("--board", board, board_help)->type_name(kind::board);
    app.footer(exit_codes_help());
    app.require_subcommand(1);
    std::map<CLI::App*, Action> commands;
    for (const CommandGroup& group : command_groups()) {
        for (auto* const add : group.commands) {
            CLI::App* command = nullptr;
            auto action = add(app, command);
            command->group(group.name);
            add_memory(*command, memory);
            finish_command(*command, board);
            commands[command] = std::move(action);
        }
    }
    const std::string defaults = defaults_file();
    if (!defaults.empty()) use_defaults(app, defaults);
    auto words = command_first(app, {argv + 1, argv + argc});
    use_current_options(words);
    const auto dashes = std::find(words.begin(), words.end(), "--");
    if (dashes != words.end() && words[0] == "diff") *dashes = "--after";
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    try {
        app.parse(std::move(words));
    } catch (const CLI::Success& asked) {  // --help, --version
        std::ostringstream text;
        app.exit(asked, text);
        print(text.str());
        return static_cast<int>(Exit::ok);
    } catch (const CLI::ParseError& error) {
        refuse(app, error, defaults);
    }
    if (!board.empty() && defaults.empty()) {
        throw Error(fmt::format("--board {}: there is no nopscope.toml that would say what that is", board), Exit::usage);
    }
    CLI::App* const command = app.get_subcommands().front();
    guard_inputs(*command, defaults);
    start_memory_limit(*command, memory);
    return static_cast<int>(commands.at(command)());
}

}  // namespace

int main(int argc, char** argv) { return nopscope::host::run_main("nopscope", run, argc, argv); }
