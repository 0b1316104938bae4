// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/names.hpp"

#include "host-tools/cli/commands/commands.hpp"

namespace nopscope::host {
namespace {

struct NamesOptions {
    std::string image;
    std::string output;  // empty: standard output
};

Exit names(const NamesOptions& options) {
    const std::string source = name_table_source(ElfFile::open(options.image));
    Output output(options.output.empty() ? "-" : options.output, Output::Kind::file);
    FileWriter file(output);
    file.write(source);
    file.close();
    output.commit();
    return Exit::ok;
}

}  // namespace

Action add_names(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<NamesOptions>();
    command = add_command(app, "names", "Write an image's name table, for its second link",
                          {"nopscope names firmware.elf -o names.s"});
    add_value(command, "image", options->image, kind::elf, "The ELF")->required();
    add_value(command, "-o,--output", options->output, kind::file, "The assembly source to write");
    return [options] { return names(*options); };
}

}  // namespace nopscope::host
