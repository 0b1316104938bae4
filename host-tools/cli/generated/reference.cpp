// SPDX-License-Identifier: Apache-2.0
#include "host-tools/cli/generated/reference.hpp"

#include <fstream>

#include "host-tools/base/error.hpp"
#include "host-tools/cli/generated/commands_of.hpp"

namespace nopscope::host {

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

}  // namespace nopscope::host
