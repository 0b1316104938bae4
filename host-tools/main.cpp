// SPDX-License-Identifier: Apache-2.0
// The nopscope command: options in, one function call out, errors caught here and nowhere else.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "host-tools/base/memory.hpp"
#include "host-tools/base/output.hpp"
#include "host-tools/base/run_main.hpp"
#include "host-tools/cli/defaults.hpp"
#include "host-tools/cli/examples.hpp"
#include "host-tools/cli/input_guard.hpp"
#include "host-tools/cli/options.hpp"
#include "host-tools/cli/reference.hpp"
#include "host-tools/version.hpp"

namespace {

using namespace nopscope;

constexpr char exit_codes[] =
    "Exit codes: 0 done; 1 what was checked is not well (check, doctor, diff --fail-above); 2 wrong\n"
    "usage; 3 a file, port or image cannot be used; 4 record: the command behind exec: failed.\n"
    "Details: docs/cli.md.";

// Hidden: of the build.
Action add_reference(CLI::App& app, CLI::App*& command) {
    auto directory = std::make_shared<std::string>();
    command = app.add_subcommand("reference", "Write man pages and completions")->group("");
    command->add_option("directory", *directory, "Where share/ is")->required();
    return [&app, directory] {
        write_reference(app, *directory);
        return Exit::ok;
    };
}

// Each command that reads a recording, a line or an image has --memory.
void add_memory(CLI::App& command, std::string& memory) {
    const std::string& name = command.get_name();
    if (name == "ctl" || name == "doctor" || name == "events" || name == "reference") return;
    command.add_option("--memory", memory, "The most memory that it may take, such as 2GB (300MB)");
}

void start_memory_limit(const CLI::App& command, const std::string& memory) {
    const auto bytes = memory.empty() ? std::optional(default_memory_bytes) : read_size(memory);
    if (!bytes || *bytes < least_memory_bytes) {
        throw Error(fmt::format("--memory {}: give a size of at least {} MB, such as 500MB or 2GB", memory,
                                least_memory_bytes / 1'000'000),
                    Exit::usage);
    }
    // The stacks of threads count as memory, though they hold next to nothing.
    constexpr std::uint64_t stacks_bytes = std::uint64_t{1} << 29;
    const std::string& name = command.get_name();
    limit_memory(*bytes);
    if (name == "record" || name == "top" || name == "serve" || name == "ctl" || name == "doctor") allow_memory(stacks_bytes);
}

int run(int argc, char** argv) {
    CLI::App app("nopscope: a function profiler for arm64 firmware", "nopscope");
    app.set_version_flag("--version", std::string("nopscope ") + version_text);
    std::string board;  // with_defaults() has taken it
    app.add_option("--board", board, "Defaults of this board, from nopscope.toml");
    app.footer(exit_codes);
    app.require_subcommand(1);
    std::map<CLI::App*, Action> commands;
    for (auto* add : {add_record, add_top, add_ctl, add_report, add_graph, add_html, add_serve, add_export, add_diff, add_query,
                      add_info, add_check, add_names, add_events, add_doctor, add_reference, add_callers, add_callees,
                      add_latency, add_outliers, add_irq, add_stack_depth}) {
        CLI::App* command = nullptr;
        auto action = add(app, command);
        commands[command] = std::move(action);
    }
    auto memory = std::make_shared<std::string>();
    for (const auto& [command, action] : commands) add_memory(*command, *memory);
    for (const auto& [command, action] : commands) command->footer(examples_of(command->get_name()) + "\n" + command->get_footer());
    std::vector<std::string> words(argv + 1, argv + argc);
    if (!words.empty() && words[0] == "diff") std::replace(words.begin(), words.end(), std::string("--"), std::string("--after"));
    words = with_defaults(app, std::move(words), defaults_file());
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    try {
        app.parse(std::move(words));
    } catch (const CLI::ParseError& error) {
        std::ostringstream out, errors;
        const bool is_help = app.exit(error, out, errors) == 0;
        print(out.str());
        fmt::print(stderr, "{}", errors.str());
        return is_help ? 0 : static_cast<int>(Exit::usage);
    }
    CLI::App* const command = app.get_subcommands().front();
    guard_inputs(*command, defaults_file());
    start_memory_limit(*command, *memory);
    return static_cast<int>(commands.at(command)());
}

}  // namespace

int main(int argc, char** argv) { return nopscope::run_main("nopscope", run, argc, argv); }
