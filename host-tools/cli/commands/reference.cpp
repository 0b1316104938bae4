// SPDX-License-Identifier: Apache-2.0
// The commands that --help does not show.
#include <filesystem>
#include <fstream>

#include "host-tools/base/error.hpp"
#include "host-tools/base/output.hpp"
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/defaults.hpp"
#include "host-tools/cli/generated/commands_of.hpp"
#include "host-tools/cli/generated/reference.hpp"
#include "host-tools/cli/options.hpp"

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
    write("bash-completion/completions/nopscope", bash_completion(app));
    write("zsh/vendor-completions/_nopscope", zsh_completion(app));
    write("fish/vendor_completions.d/nopscope.fish", fish_completion(app));
}

}  // namespace

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

// Completions run this command for --board.
Action add_boards(CLI::App& app, CLI::App*& command) {
    command = add_command(app, "boards", "List the boards of nopscope.toml", {});
    return [] {
        if (const std::string file = defaults_file(); !file.empty()) {
            for (const std::string& board : boards_of(file)) print(board + "\n");
        }
        return Exit::ok;
    };
}

}  // namespace nopscope::host
