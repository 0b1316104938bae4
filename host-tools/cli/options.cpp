// SPDX-License-Identifier: Apache-2.0
#include "host-tools/cli/options.hpp"

namespace nopscope::host {

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& help,
                      std::initializer_list<std::string_view> examples, const std::string& notes) {
    CLI::App* const command = app.add_subcommand(name, help);
    std::string footer = examples.size() == 0 ? "" : "Examples:\n";
    for (const std::string_view example : examples)
        footer.append("  ").append(example).append("\n");
    command->footer(footer + "\n" + (notes.empty() ? app.get_footer() : notes));
    return command;
}

CLI::Option* add_recording(CLI::App* command, ReportOptions& options, const char* image_help) {
    add_value(command, "--image", options.image, kind::elf, image_help);
    return add_value(command, "file", options.file, kind::recording,
                     "A recording, or a raw capture; - for standard input")
        ->required();
}

void add_function(CLI::App* command, std::string& function) {
    add_value(command, "function", function, kind::glob, "Its name, or a glob of names")
        ->required();
}

CLI::Option* add_percent(CLI::App* app, const std::string& name, double& value,
                         const std::string& help) {
    return app->add_option(name, value, help)
        ->transform(real_number(0, 100, "percent"))
        ->type_name("PERCENT");
}

CLI::Option* add_seconds(CLI::App* app, const std::string& name, double& value, double least,
                         double most, const std::string& help) {
    return app->add_option(name, value, help)
        ->transform(real_number(least, most, "seconds"))
        ->type_name("SECONDS");
}

CLI::Option* add_word(CLI::App* app, const std::string& name, std::string& value,
                      const std::vector<std::string>& words, const std::string& help) {
    return app->add_option(name, value, help)->transform(one_of(words))->type_name(choices(words));
}

void add_raw(CLI::App* command, bool& raw) {
    command->add_flag("--raw", raw, "Show times as recorded, with what recording took in them");
}

void add_yes(CLI::App* command, bool& yes) {
    command->add_flag("--yes", yes, "Write an output of more than 1 GB, too");
}

}  // namespace nopscope::host
