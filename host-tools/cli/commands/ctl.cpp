// SPDX-License-Identifier: Apache-2.0
// `ctl` sends one request to a target, directly over the line or through the line's recorder.
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/control_options.hpp"
#include "host-tools/command/socket.hpp"
#include "host-tools/command/verbs.hpp"
#include "host-tools/image/read_symbols.hpp"
#include "host-tools/live/line.hpp"

namespace nopscope::host {
namespace {

struct CtlOptions {
    std::string from;  // the line; empty with `via`
    std::string via;   // a recorder's control socket; `from` is empty then
    std::string image;
    ControlRequest request;
};

// Ignores everything but hellos and replies.
class Listener final : public SessionSink {
public:
    void on_session(const HelloInfo& session) override {
        hello = session;
        client->on_session(session.session, session.architecture);
    }
    void on_reply(const protocol::Reply& reply) override { client->on_reply(reply); }

    HelloInfo hello;
    CommandClient* client = nullptr;
};

std::string over_line(const CtlOptions& options) {
    std::optional<Symbols> symbols;
    if (!options.image.empty()) symbols = read_symbols(ElfFile::open(options.image));
    check_names(options.request, symbols ? &*symbols : nullptr);
    const auto source = open_source(options.from, Way::both);
    Listener listener;
    LineReader line(*source, listener);
    bool is_wrong = false;
    CommandClient client(*source, [&] {
        const bool is_closed = line.wait(std::chrono::milliseconds(20)).closed;
        const auto now = LineReader::Clock::now();
        line.take(now);
        listener.client->on_frames(line.reader().line().frames);
        if (line.reader().has_session()) return !is_closed;
        if (is_closed) throw Error("the line is over: " + line.diagnosis().sentence());
        if (line.complaint(now)) is_wrong = true;
        // Another rate may be right. A busy target may send its hello after other frames.
        if (is_wrong && !line.searches() && line.diagnosis().kind != Diagnosis::frames) {
            throw Error(line.diagnosis().sentence());
        }
        return true;
    });
    listener.client = &client;
    return perform(options.request, {client, symbols ? &*symbols : nullptr, listener.hello}).text;
}

// One line for each verb: "  trace [GLOB...]   Trace functions ...".
std::string verb_list() {
    std::string list = "Requests:\n";
    for (const Verb& verb : verbs()) {
        const std::string words = fmt::format("{} {}", verb.name, verb.argument.text);
        list += fmt::format("  {:<20} {}{}\n", words, verb.help, verb.more_help);
        if (verb.argument.has_other_values) continue;
        list += fmt::format("  {:<20} ({})\n", "", fmt::join(verb.argument.values(), ", "));
    }
    return list + "Details: docs/cli.md.";
}

Exit ctl(const CtlOptions& options) {
    check(options.request);
    if (options.via.empty() && !needs_target(options.request))
        perform_here(options.request, nullptr);  // says who can do it
    std::string_view path = options.via;
    if (path.empty() == options.from.empty()) {
        throw Error("give the line, --from URI, or the recorder that holds it, --via unix:PATH",
                    Exit::usage);
    }
    ControlAnswer answer;
    if (path.empty()) {
        answer.text = over_line(options);
    } else {
        if (path.starts_with("unix:")) path.remove_prefix(5);
        answer = ask_recorder(std::string(path), options.request);
        if (answer.status != Exit::ok) throw Error(answer.text, answer.status);
    }
    print(for_terminal(answer.text) + "\n");
    return Exit::ok;
}

}  // namespace

Action add_ctl(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<CtlOptions>();
    command = add_command(
        app, "ctl", "Send a request to a running target",
        {"nopscope ctl --from serial:/dev/ttyUSB0 stats",
         "nopscope ctl --via unix:/tmp/steer --image firmware.elf trace 'luaH_*' --recorder graph"},
        verb_list());
    CLI::Option* const from =
        add_value(command, "--from", options->from, kind::uri, "The line, as `record` takes it");
    add_value(command, "--via", options->via, kind::uri,
              "unix:PATH: the recorder that holds the line (record --control unix:PATH)")
        ->excludes(from);
    add_value(command, "--image", options->image, kind::elf,
              "The ELF that runs there, to find functions by name");
    add_choice_options(command, options->request.choice, options->request.recorder);
    command->add_flag("--also", options->request.also,
                      "trace: besides what is traced already, instead of it");
    add_value(command, "request", options->request.words, kind::request, "A verb and its arguments")
        ->required();
    return [options] { return ctl(*options); };
}

}  // namespace nopscope::host
