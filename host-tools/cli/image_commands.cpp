// SPDX-License-Identifier: Apache-2.0
// Options of the commands about images and this machine.
#include "host-tools/base/output.hpp"
#include "host-tools/base/pmu_events.hpp"
#include "host-tools/cli/defaults.hpp"
#include "host-tools/cli/options.hpp"

namespace nopscope::host {

Action add_info(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<InfoOptions>();
    command = app.add_subcommand("info", "Say what a recording or an image is");
    command->add_option("file", options->file, "A recording, a raw capture, or an ELF")->required()->type_name(kind::file);
    add_choice(command, "--format", options->format, formats_without_csv, "Output");
    command->add_flag("--sites", options->sites, "Of an ELF: list its patch sites");
    return [options] { return info(*options); };
}

Action add_check(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<CheckOptions>();
    command = app.add_subcommand("check", "Is every instrumented function of an image traceable?");
    command->add_option("image", options->image, "The ELF")->required()->type_name(kind::elf);
    command->add_option("--allow", options->allow, "A function whose address may be taken without a landing pad")
        ->type_name("FUNCTION");
    auto bti = std::make_shared<bool>(false), no_bti = std::make_shared<bool>(false);
    CLI::Option* const enforced =
        command->add_flag("--bti", *bti, "The CPU enforces BTI (as the image's property note or its patch sites tell)");
    command->add_flag("--no-bti", *no_bti, "The CPU does not enforce BTI")->excludes(enforced);
    command->add_flag("-v,--verbose", options->verbose, "Name the uninstrumented functions");
    add_choice(command, "--format", options->format, formats_without_csv, "Output");
    return [options, bti, no_bti] {
        if (*bti || *no_bti) options->bti = *bti;
        return check(*options);
    };
}

Action add_names(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<NamesOptions>();
    command = app.add_subcommand("names", "Write an image's name table, for its second link");
    command->add_option("image", options->image, "The ELF")->required()->type_name(kind::elf);
    command->add_option("-o,--output", options->output, "The assembly source to write")->type_name(kind::file);
    return [options] { return names(*options); };
}

Action add_events(CLI::App& app, CLI::App*& command) {
    command = app.add_subcommand("events", "List the PMU's events that have a name here");
    return [] {
        print(event_list());
        return Exit::ok;
    };
}

Action add_doctor(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<DoctorOptions>();
    command = app.add_subcommand("doctor", "Look whether ports, tools and images are as they should be");
    command->add_option("--from", options->from, "Listen to this line, too: is a target on it, at this rate?")->type_name(kind::uri);
    command->add_option("--image", options->image, "Look at this ELF, too")->type_name(kind::elf);
    add_seconds(command, "--duration", options->seconds, 0.1, 3600, "How long to listen (3)");
    command->add_option("--devices", options->devices, "Where serial ports are (/dev)")->type_name(kind::directory);
    add_choice(command, "--format", options->format, formats_without_csv, "Output");
    return [options] {
        options->defaults_file = defaults_file();
        return doctor(*options);
    };
}

}  // namespace nopscope::host
