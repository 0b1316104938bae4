// SPDX-License-Identifier: Apache-2.0
#include "host-tools/cli/control_options.hpp"

namespace nopscope::host {
namespace {

struct Wanted {
    Choice choice;
    std::vector<std::string> only, events;
    std::string recorder, mode, depth, min_duration, sample, baud;
};

void add_choice_options(CLI::App* command, Choice& choice, std::string& recorder) {
    command->add_option("--notrace", choice.notrace, "Not functions of this name; may be repeated")->type_name(kind::glob);
    add_count(command, "--size-above", choice.size_above, 0, ~std::uint64_t{0}, "Only functions of more bytes");
    add_word(command, "--recorder", recorder, recorder_names(), "What of each call is recorded");
}

void wants_image(const LineOptions& options, bool needed) {
    if (needed && options.image.empty()) {
        throw Error("functions are found by name in the image: give --image ELF", Exit::usage);
    }
}

// A rate first, then what is recorded, then of that.
std::vector<ControlRequest> requests_of(const Wanted& wanted, const LineOptions& options) {
    std::vector<ControlRequest> requests;
    const auto add = [&](ControlRequest request) {
        check(request);
        requests.push_back(std::move(request));
    };
    const auto add_if = [&](const char* verb, const std::string& value) {
        if (!value.empty()) add({.words = {verb, value}});
    };
    add_if("baud", wanted.baud);
    // These are of recorders of their own.
    const bool only_profile = wanted.mode == "profile";
    if (only_profile) {
        if (!wanted.recorder.empty() && wanted.recorder != "profile") {
            throw Error("--mode profile is the profile recorder: not with --recorder " + wanted.recorder,
                        Exit::usage);
        }
        add_if("mode", "stream");  // adaptive would go on to choose recorders
    }
    const std::string recorder = only_profile                   ? "profile"
                                 : !wanted.recorder.empty()     ? wanted.recorder
                                 : !wanted.min_duration.empty() ? "duration"
                                 : !wanted.sample.empty()       ? "sampled"
                                                                : "";
    const bool traces = wanted.choice.chooses() || !recorder.empty();
    wants_image(options, traces || !wanted.only.empty());
    if (traces) {
        add({.words = {"trace"}, .choice = wanted.choice, .recorder = recorder});
    }
    if (!wanted.only.empty()) {
        ControlRequest only{.words = {"only"}};
        only.words.insert(only.words.end(), wanted.only.begin(), wanted.only.end());
        add(std::move(only));
    }
    if (!wanted.events.empty()) {
        ControlRequest events{.words = {"events"}};
        events.words.insert(events.words.end(), wanted.events.begin(), wanted.events.end());
        add(std::move(events));
    }
    add_if("depth", wanted.depth);
    add_if("min-duration", wanted.min_duration);
    add_if("sample", wanted.sample);
    if (!only_profile) add_if("mode", wanted.mode);
    return requests;
}

}  // namespace

void add_line(CLI::App* command, LineOptions& options, const char* image_help) {
    command
        ->add_option("--from", options.from,
                     "serial:PATH?baud=N, tcp:HOST:PORT, unix:PATH, exec:COMMAND, file:PATH, "
                     "gdb:HOST:PORT, or - for standard input")
        ->required()
        ->type_name(kind::uri);
    command->add_option("--image", options.image, image_help)->type_name(kind::elf);
    add_count(command, "--memory-base", options.memory.base, 0, ~std::uint64_t{0},
              "file: is an image of the target's memory, from this address on")
        ->type_name("ADDRESS");
    command->add_flag("--keep-tracing", options.keep_tracing,
                      "Read out what the target has counted at the end of the recording, but do not stop it");
    command->add_flag("--resume", options.memory.resume, "gdb: let the target run on when it has been read");
}

std::function<void()> add_steering(CLI::App* command, LineOptions& options) {
    const auto wanted = std::make_shared<Wanted>();
    const auto group = command->add_option_group(
        "Control", "Asked of the target when it is first heard (docs/control.md)");
    group->set_help_flag();  // the command has one
    group->add_option("--filter", wanted->choice.filter, "Trace only functions of this name, * and ? in it; may be repeated")
        ->type_name(kind::glob);
    add_choice_options(group, wanted->choice, wanted->recorder);
    group->add_option("--only-function", wanted->only, "Record only these, and what they call")->type_name(kind::glob);
    group
        ->add_option("--event", wanted->events,
                     "Count this event of the PMU's in each call, by name (`nopscope events`) or number; "
                     "twice for two")
        ->type_name(kind::event);
    group->add_option("--depth", wanted->depth, "Record only so many calls deep")->type_name("CALLS");
    group->add_option("--min-duration", wanted->min_duration, "Only calls that take so long: 10us, 1ms")->type_name("TIME");
    group->add_option("--sample", wanted->sample, "One call in so many: 1/N")->type_name("RATIO");
    auto modes = mode_names();
    modes.emplace_back("profile");
    add_word(group, "--mode", wanted->mode, modes, "How the target treats what the line cannot carry");
    group->add_option("--baud", wanted->baud, "Run the line at this rate, both sides")->type_name("RATE");
    group->add_option("--control", options.steering.socket, "unix:PATH: take requests of `ctl --via unix:PATH` meanwhile")
        ->type_name(kind::uri);
    return [wanted, &options] {
        options.steering.at_start = requests_of(*wanted, options);
        std::string& path = options.steering.socket;
        if (path.starts_with("unix:")) path.erase(0, 5);
    };
}

Action add_ctl(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<CtlOptions>();
    command = app.add_subcommand("ctl", "Ask something of a target");
    CLI::Option* const from = command->add_option("--from", options->from, "The line, as `record` takes it")->type_name(kind::uri);
    command->add_option("--via", options->via, "unix:PATH: the recorder that holds the line (record --control unix:PATH)")
        ->excludes(from)
        ->type_name(kind::uri);
    command->add_option("--image", options->image, "The ELF that runs there, to find functions by name")->type_name(kind::elf);
    add_choice_options(command, options->request.choice, options->request.recorder);
    command->add_flag("--also", options->request.also,
                      "trace: besides what is traced already, instead of it");
    command->add_option("request", options->request.words, control_verbs())->required()->type_name(kind::request);
    return [options] { return ctl(*options); };
}

}  // namespace nopscope::host
