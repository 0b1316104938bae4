// SPDX-License-Identifier: Apache-2.0
// This file alone knows which options name files, so no command can forget the check.
#include "host-tools/cli/input_guard.hpp"

#include <vector>

#include "host-tools/base/same_file.hpp"

namespace nopscope::host {
namespace {

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

}  // namespace

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

}  // namespace nopscope::host
