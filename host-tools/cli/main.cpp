// SPDX-License-Identifier: Apache-2.0
// The nopscope command parses its options and calls one function. run_main() reports errors.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <sstream>

#include "host-tools/base/memory.hpp"
#include "host-tools/base/output.hpp"
#include "host-tools/base/run_main.hpp"
#include "host-tools/base/same_file.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/defaults.hpp"
#include "host-tools/cli/generated/commands_of.hpp"
#include "host-tools/cli/generated/reference.hpp"
#include "host-tools/cli/options.hpp"
#include "host-tools/cli/usage.hpp"
#include "host-tools/cli/version.hpp"
#include "host-tools/image/arch/arch.hpp"

namespace {

using namespace nopscope::host;

constexpr char board_help[] = "Defaults of this board, from nopscope.toml";

// Each command that reads a recording, a line or an image has --memory.
void add_memory(CLI::App& command, std::string& memory) {
    const std::string& name = command.get_name();
    if (name == "ctl" || name == "doctor" || name == "events" || name == "reference" ||
        name == "help")
        return;
    command.add_option("--memory", memory, "The most memory that it may take, such as 2GB (300MB)")
        ->type_name("SIZE")
        ->check([](const std::string& text) -> std::string {
            const auto bytes = read_size(text);
            if (bytes && *bytes >= least_memory_bytes) return {};
            return fmt::format("expected a size of at least {} MB, such as 500MB or 2GB, not {}",
                               least_memory_bytes / 1'000'000, for_cell(text));
        });
}

void start_memory_limit(const CLI::App& command, const std::string& memory) {
    constexpr unsigned most_threads = 32;  // for `serve`: 16 connections, and some more
    const std::string& name = command.get_name();
    limit_memory(memory.empty() ? default_memory_bytes : read_size(memory).value());
    if (name == "record" || name == "top" || name == "serve" || name == "ctl" || name == "doctor")
        allow_threads(most_threads);
}

class HelpFormatter final : public CLI::Formatter {
public:
    // Leaves out the options that an option excludes: `serve` has too many. An error names two that
    // were given together.
    std::string make_option_opts(const CLI::Option* option) const override {
        std::string text = Formatter::make_option_opts(option);
        return text.substr(0, text.find(" Excludes:"));
    }
};

// Adds the options that every command has, and tells CLI11 how to read the command's own options.
void finish_command(CLI::App& command, std::string& board) {
    command.add_option("--board", board, board_help)->type_name(kind::board)->configurable(false);
    command.set_version_flag("--version", version_lines())->group("");
    for (CLI::Option* const option : all_options(command)) {
        // Otherwise `html --source-root DIR FILE` would take FILE for a second DIR.
        if (!option->get_positional() && option->get_name() != "--after")
            option->allow_extra_args(false);
    }
}

// Never returns the codes of CLI11.
[[noreturn]] void refuse(const CLI::App& app, const CLI::ParseError& error,
                         const std::string& defaults) {
    if (dynamic_cast<const CLI::FileError*>(&error) == nullptr)
        throw Error(usage_sentence(app, error), Exit::usage);
    const bool is_missing = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::FileError);
    throw Error(is_missing ? "cannot open " + defaults : error.what(),
                is_missing ? Exit::input : Exit::usage);
}

// Returns the values of all options with these names.
std::vector<std::string> values_of(const CLI::App& command,
                                   std::initializer_list<const char*> names) {
    std::vector<std::string> values;
    for (const char* const name : names) {
        const CLI::Option* const option = command.get_option_no_throw(name);
        if (option == nullptr) continue;
        for (const std::string& value : option->results()) values.push_back(value);
    }
    return values;
}

// Throws Error (Exit::usage) if an output of the command, or standard output, is also an input, or
// if two outputs are one file. `defaults`: the file of defaults in use; empty: none.
void guard_inputs(const CLI::App& command, const std::string& defaults) {
    std::vector<std::string> inputs =
        values_of(command, {"file", "image", "--image", "before", "--after"});
    for (const std::string& uri : values_of(command, {"--from"})) {
        if (uri == "-") inputs.push_back(uri);
        if (uri.starts_with("file:")) inputs.push_back(uri.substr(5));
    }
    inputs.push_back(defaults);
    std::vector<std::string> outputs = values_of(command, {"--output", "--save-line", "--html"});
    for (std::size_t n = 0; n < outputs.size(); ++n) {
        refuse_if_same(outputs[n], inputs);
        for (std::size_t other = 0; other < n; ++other)
            refuse_same_outputs(outputs[other], outputs[n]);
    }
    refuse_if_same("-", inputs);
}

int run(int argc, char** argv) {
    CLI::App app(fmt::format("nopscope: a function profiler for {} firmware", arch_names(" and ")),
                 "nopscope");
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
    if (argc > 1 && std::string_view(argv[1]) == "__complete") {  // the shells' completions
        print(completion(app, {argv + 2, argv + argc}));
        return static_cast<int>(Exit::ok);
    }
    const std::string defaults = defaults_file();
    if (!defaults.empty()) use_defaults(app, defaults);
    auto words = command_first(app, {argv + 1, argv + argc});
    use_current_options(words);
    const auto dashes = std::find(words.begin(), words.end(), "--");
    if (dashes != words.end() && words[0] == "diff") *dashes = "--after";
    std::reverse(words.begin(), words.end());  // CLI11 expects them in reverse order
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
        throw Error(
            fmt::format("--board {}: there is no nopscope.toml that would say what that is", board),
            Exit::usage);
    }
    CLI::App* const command = app.get_subcommands().front();
    guard_inputs(*command, defaults);
    start_memory_limit(*command, memory);
    return static_cast<int>(commands.at(command)());
}

}  // namespace

int main(int argc, char** argv) { return nopscope::host::run_main("nopscope", run, argc, argv); }
