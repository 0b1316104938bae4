// SPDX-License-Identifier: Apache-2.0
#include "host-tools/elf/check.hpp"

#include <fmt/format.h>

#include "host-tools/base/output.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/commands/commands.hpp"
#include "host-tools/report/json.hpp"

namespace nopscope {
namespace {

void print_json(const CheckResult& result) {
    Json json;
    json["sites"] = result.sites;
    json["functions"] = result.functions;
    json["address_taken"] = result.address_taken;
    json["uninstrumented"] = Json::array();
    for (const auto& name : result.uninstrumented) json["uninstrumented"].push_back(to_utf8(name));
    json["problems"] = Json::array();
    for (const Problem& problem : result.problems) {
        json["problems"].push_back({{"address", hex_address(problem.address)},
                                    {"function", to_utf8(problem.function)},
                                    {"what", problem.what}});
    }
    print(json_text(json));
}

}  // namespace

Exit check(const CheckOptions& options) {
    const ElfFile elf = ElfFile::open(options.image);
    const CheckResult result = check_image(elf, options.allow);
    const Exit verdict = result.problems.empty() ? Exit::ok : Exit::check_failed;
    if (options.format == Format::json) {
        print_json(result);
        return verdict;
    }
    for (const Problem& problem : result.problems) {
        print("{}: {} at {} {}\n", options.image, for_cell(problem.function),
                   hex_address(problem.address), problem.what);
    }
    if (options.verbose) {
        for (const auto& name : result.uninstrumented) {
            print("uninstrumented: {}\n", for_cell(name));
        }
    }
    print("{}: {} functions, {} sites, {} address-taken, {} uninstrumented, {} problem{}\n",
               options.image, result.functions, result.sites, result.address_taken,
               result.uninstrumented.size(), result.problems.size(),
               result.problems.size() == 1 ? "" : "s");
    return verdict;
}

}  // namespace nopscope
