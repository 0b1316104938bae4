// SPDX-License-Identifier: Apache-2.0
// What nopscope says of itself: `help` and `events`. `reference`, which --help does not show,
// writes man pages and completions.
#include <filesystem>
#include <fstream>

#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/generated/commands_of.hpp"
#include "host-tools/cli/generated/reference.hpp"
#include "host-tools/cli/usage.hpp"
#include "host-tools/image/arch/pmu_events.hpp"

namespace nopscope::host {
namespace {

// Writes man pages and completions below `directory`, in the layout of share/. Throws Error.
void write_reference(const CLI::App& app, const std::filesystem::path& directory) {
    const auto write = [&](const std::filesystem::path& below, const std::string& text) {
        const auto path = directory / below;
        std::error_code ignored;
        std::filesystem::create_directories(path.parent_path(), ignored);
        std::ofstream file(path, std::ios::binary | std::ios::trunc);
        if (!(file << text).flush()) throw Error("cannot write " + path.string());
    };
    write("man/man1/nopscope.1", man_page(app, nullptr));
    for (const CLI::App* const command : shown_commands(app)) {
        write("man/man1/nopscope-" + command->get_name() + ".1", man_page(app, command));
    }
    write("bash-completion/completions/nopscope", bash_completion);
    write("zsh/vendor-completions/_nopscope", zsh_completion);
    write("fish/vendor_completions.d/nopscope.fish", fish_completion);
}

}  // namespace

Action add_help(CLI::App& app, CLI::App*& command) {
    auto about = std::make_shared<std::string>();
    command = add_command(app, "help", "Say what there is, or what a command takes",
                          {"nopscope help record"});
    add_value(command, "command", *about, kind::command, "Its name");
    return [&app, about] {
        const CLI::App* const one = about->empty() ? &app : find_command(app, *about);
        if (one == nullptr) throw Error(unknown_command(app, *about), Exit::usage);
        print(one->get_formatter()->make_help(one, one == &app ? "nopscope" : "nopscope " + *about,
                                              CLI::AppFormatMode::Normal));
        return Exit::ok;
    };
}

Action add_events(CLI::App& app, CLI::App*& command) {
    command = add_command(app, "events", "List the PMU's events that have a name here",
                          {"nopscope events"});
    return [] {
        print(event_list());
        return Exit::ok;
    };
}

// The build runs this command.
Action add_reference(CLI::App& app, CLI::App*& command) {
    auto directory = std::make_shared<std::string>();
    command = add_command(app, "reference", "Write man pages and completions", {});
    command->add_option("directory", *directory, "Where share/ is")->required();
    return [&app, directory] {
        write_reference(app, *directory);
        return Exit::ok;
    };
}

}  // namespace nopscope::host
