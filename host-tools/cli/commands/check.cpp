// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/check.hpp"

#include <algorithm>

#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/control_options.hpp"
#include "host-tools/image/choice.hpp"
#include "host-tools/views/json/json.hpp"

namespace nopscope::host {
namespace {

struct CheckOptions {
    std::string image;
    std::vector<std::string> allow;  // functions whose address may be taken without a landing pad
    std::vector<std::string> allow_convention;  // globs: functions that tracing may break
    std::optional<bool> pads_are_enforced;      // by the CPU; nothing: the image decides
    bool verbose = false;
    Format format = Format::text;
};

// Up to five names.
template <typename List, typename Name>
std::string first_of(const List& list, Name name) {
    constexpr std::size_t shown = 5;
    std::string text;
    for (std::size_t n = 0; n < std::min(shown, list.size()); ++n)
        text += (n == 0 ? "" : ", ") + for_cell(name(list[n]));
    return list.size() > shown ? text + ", ..." : text;
}

void print_json(const CheckResult& result) {
    const auto problem = [](const Problem& one) {
        return Json{{"address", hex_address(one.address)},
                    {"function", to_utf8(one.function)},
                    {"what", one.what}};
    };
    print(json_text({{"sites", result.sites},
                     {"functions", result.functions},
                     {"address_taken", result.address_taken},
                     {"uninstrumented", json_list(result.uninstrumented, to_utf8)},
                     {"prebuilt", json_list(result.prebuilt, to_utf8)},
                     {"unused", json_list(result.unused, to_utf8)},
                     {"relocated_sites", result.relocated_sites},
                     {"bti_is_enforced", result.pads_are_enforced},
                     {"without_landing_pad", result.without_pad.size()},
                     {"has_build_id", result.has_build_id},
                     {"has_tracer", result.has_tracer},
                     {"problems", json_list(result.problems, problem)}}));
}

// Prints facts that are no problems but that the user should know.
void print_notes(const std::string& image, const CheckResult& result) {
    if (!result.has_build_id) {
        print("{}: the image has no build-id, so {}\n", image, without_build_id);
    }
    if (const std::size_t count = result.without_pad.size(); count != 0) {
        print(
            "{}: {} address-taken function{} without a landing pad, which is right unless the CPU "
            "enforces BTI (--bti): {}\n",
            image, count, count == 1 ? "" : "s",
            first_of(result.without_pad, [](const Problem& one) { return one.function; }));
    }
    if (const std::size_t count = result.relocated_sites; count != 0) {
        print(
            "{}: {} of {} entries of the site table are zero in the file: start-up code must apply "
            "the image's dynamic relocations before it calls nopscope's init()\n",
            image, count, result.sites);
    }
    if (const std::size_t count = result.unused.size(); count != 0) {
        print(
            "{}: {} traced function{} to which nothing in the image refers: {}; --gc-sections does "
            "not drop what the site table has (docs/integration.md)\n",
            image, count, count == 1 ? "" : "s",
            first_of(result.unused, [](const std::string& name) { return name; }));
    }
    if (const std::size_t count = result.prebuilt.size(); count != 0) {
        print(
            "{}: {} function{} of source files without any site or debug information, such as "
            "prebuilt libraries and assembly: {}; docs/integration.md says how to build a library "
            "with sites\n",
            image, count, count == 1 ? "" : "s",
            first_of(result.prebuilt, [](const std::string& name) { return name; }));
    }
}

Exit check(const CheckOptions& options) {
    const ElfFile elf = ElfFile::open(options.image);
    CheckResult result = check_image(elf, options.allow, options.pads_are_enforced);
    for (Problem& one : not_allowed(result.broken_by_tracing, options.allow_convention))
        result.problems.push_back(std::move(one));
    if (result.sites == 0 && !result.has_tracer) {
        throw Error(options.image +
                        " has no patch sites and no tracer: it was built without nopscope, or "
                        "without its flags, NOPSCOPE_ENABLED=1 and -fpatchable-function-entry "
                        "(SHIPPING.md)",
                    Exit::check_failed);
    }
    if (result.sites == 0) {
        throw Error(options.image +
                        " has no patch sites: was it compiled with -fpatchable-function-entry, and "
                        "does its linker script keep __patchable_function_entries?",
                    Exit::check_failed);
    }
    const Exit verdict =
        result.problems.empty() && result.has_tracer ? Exit::ok : Exit::check_failed;
    if (options.format == Format::json) {
        print_json(result);
        return verdict;
    }
    for (const Problem& problem : result.problems) {
        print(problem_text(options.image, problem) + "\n");
    }
    if (options.verbose) {
        for (const auto& name : result.uninstrumented) {
            print("uninstrumented: {}\n", for_cell(name));
        }
    }
    if (!result.has_tracer) {
        print(
            "{}: the image has patch sites but no tracer: no source that calls nopscope was "
            "compiled with NOPSCOPE_ENABLED=1, which nopscope::tracer (CMake) and `pkg-config "
            "--cflags nopscope` give\n",
            for_terminal(options.image));
    }
    print_notes(for_terminal(options.image), result);
    print("{}: {} functions, {} sites, {} address-taken, {} uninstrumented, {} problem{}\n",
          for_terminal(options.image), result.functions, result.sites, result.address_taken,
          result.uninstrumented.size(), result.problems.size(),
          result.problems.size() == 1 ? "" : "s");
    return verdict;
}

}  // namespace

Action add_check(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<CheckOptions>();
    command = add_command(app, "check", "Is every instrumented function of an image traceable?",
                          {"nopscope check firmware.elf --verbose"});
    add_value(command, "image", options->image, kind::elf, "The ELF")->required();
    command
        ->add_option("--allow", options->allow,
                     "A function whose address may be taken without a landing pad")
        ->type_name("FUNCTION");
    add_allow_convention(command, options->allow_convention);
    auto bti = std::make_shared<bool>(false), no_bti = std::make_shared<bool>(false);
    CLI::Option* const enforced = command->add_flag(
        "--bti", *bti,
        "The CPU enforces BTI (as the image's property note or its patch sites tell)");
    command->add_flag("--no-bti", *no_bti, "The CPU does not enforce BTI")->excludes(enforced);
    command->add_flag("-v,--verbose", options->verbose, "Name the uninstrumented functions");
    add_choice(command, "--format", options->format, formats_without_csv, "Output");
    return [options, bti, no_bti] {
        if (*bti || *no_bti) options->pads_are_enforced = *bti;
        return check(*options);
    };
}

}  // namespace nopscope::host
