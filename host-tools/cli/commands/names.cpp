// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/names.hpp"

#include "host-tools/base/output.hpp"
#include "host-tools/cli/commands/commands.hpp"

namespace nopscope::host {

Exit names(const NamesOptions& options) {
    const std::string source = name_table_source(ElfFile::open(options.image));
    Output output(options.output.empty() ? "-" : options.output, Output::Kind::file);
    FileWriter file(output);
    file.write(source);
    file.close();
    output.commit();
    return Exit::ok;
}

}  // namespace nopscope::host
