// SPDX-License-Identifier: Apache-2.0
#include "host-tools/cli/control_options.hpp"

#include "host-tools/command/verbs.hpp"

namespace nopscope::host {
namespace {

struct Wanted {
    Choice choice;
    std::string recorder;
    std::vector<std::vector<std::string>> words;  // the values of each verb's option
};

// Returns the requests for the options that were given, in the order of the verbs' table.
std::vector<ControlRequest> requests_of(const Wanted& wanted, const LineOptions& options) {
    std::string recorder = wanted.recorder;
    for (std::size_t n = 0; n < verbs().size(); ++n) {
        if (!recorder.empty() || wanted.words[n].empty() || !verbs()[n].recorder) continue;
        recorder = protocol::recorder_names[static_cast<std::size_t>(*verbs()[n].recorder)];
    }
    std::vector<ControlRequest> requests;
    for (std::size_t n = 0; n < verbs().size(); ++n) {
        const Verb& verb = verbs()[n];
        const bool chosen = verb.has_recorder && (wanted.choice.chooses() || !recorder.empty());
        if (!verb.is_option || (wanted.words[n].empty() && !chosen)) continue;
        if (verb.chooses && options.image.empty())
            throw Error("functions are found by name in the image: give --image ELF", Exit::usage);
        ControlRequest request{.words = {verb.name}};
        request.words.insert(request.words.end(), wanted.words[n].begin(), wanted.words[n].end());
        if (verb.has_recorder) {
            request.choice = wanted.choice;
            request.recorder = recorder;
        }
        check(request);
        requests.push_back(std::move(request));
    }
    return requests;
}

// "[GLOB...]" -> "GLOB".
std::string type_of(const Argument& argument) {
    std::string type = argument.text;
    std::erase_if(type, [](char c) { return c == '[' || c == ']' || c == '.'; });
    return type;
}

void add_verb(CLI::App* group, const Verb& verb, std::vector<std::string>& words) {
    const bool is_repeated = verb.argument.most > 1;
    const std::string help = std::string(verb.help) + (is_repeated ? "; may be repeated" : "");
    CLI::Option* const option = group->add_option("--" + std::string(verb.name), words, help)
                                    ->type_name(type_of(verb.argument));
    if (!is_repeated) option->expected(1);
    if (verb.argument.has_other_values) return;
    option->transform(one_of(verb.argument.values()))->type_name(choices(verb.argument.values()));
}

}  // namespace

void add_choice_options(CLI::App* command, Choice& choice, std::string& recorder) {
    add_value(command, "--notrace", choice.notrace, kind::glob,
              "Not functions of this name; may be repeated");
    add_count(command, "--size-above", choice.size_above, 0, ~std::uint64_t{0},
              "Only functions of more bytes");
    add_word(command, "--recorder", recorder, recorder_names(), "What of each call is recorded");
}

void add_allow_convention(CLI::App* command, std::vector<std::string>& globs) {
    add_value(command, "--allow-convention", globs, kind::glob,
              "Functions whose calling convention forbids tracing may be traced; may be repeated");
}

CLI::Option* add_from(CLI::App* command, std::string& from) {
    return add_value(command, "--from", from, kind::uri,
                     "serial:PATH?baud=N, tcp:HOST:PORT, unix:PATH, exec:COMMAND, file:PATH, "
                     "gdb:HOST:PORT, or - for standard input");
}

void add_line(CLI::App* command, LineOptions& options, const char* image_help) {
    add_from(command, options.from)->required();
    add_value(command, "--image", options.image, kind::elf, image_help);
    add_count(command, "--memory-base", options.memory.base, 0, ~std::uint64_t{0},
              "file: is an image of the target's memory, from this address on")
        ->type_name("ADDRESS");
    command->add_flag(
        "--keep-tracing", options.keep_tracing,
        "Read out what the target has counted at the end of the recording, but do not stop it");
    add_allow_convention(command, options.allow_convention);
    command->add_flag("--resume", options.memory.resume,
                      "gdb: let the target run on when it has been read");
}

std::function<void()> add_steering(CLI::App* command, LineOptions& options) {
    const auto wanted = std::make_shared<Wanted>();
    const auto group = command->add_option_group(
        "Control", "Asked of the target when it is first heard (docs/control.md)");
    group->set_help_flag();  // the command has its own --help
    wanted->words.resize(verbs().size());
    for (std::size_t n = 0; n < verbs().size(); ++n) {
        const Verb& verb = verbs()[n];
        if (verb.is_option) add_verb(group, verb, wanted->words[n]);
        if (verb.has_recorder) add_choice_options(group, wanted->choice, wanted->recorder);
    }
    add_value(group, "--control", options.steering.socket, kind::uri,
              "unix:PATH: take requests of `ctl --via unix:PATH` meanwhile");
    return [wanted, &options] {
        options.steering.at_start = requests_of(*wanted, options);
        std::string& path = options.steering.socket;
        if (path.starts_with("unix:")) path.erase(0, 5);
    };
}

}  // namespace nopscope::host
