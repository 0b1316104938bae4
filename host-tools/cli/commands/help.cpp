// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/output.hpp"
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/generated/commands_of.hpp"
#include "host-tools/cli/options.hpp"
#include "host-tools/cli/usage.hpp"

namespace nopscope::host {

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

}  // namespace nopscope::host
