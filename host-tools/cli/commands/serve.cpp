// SPDX-License-Identifier: Apache-2.0
// `serve` shows a recording, or a running target's line, as a page in a browser.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "host-tools/base/interrupt.hpp"
#include "host-tools/base/output.hpp"
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/commands/html.hpp"
#include "host-tools/cli/control_options.hpp"
#include "host-tools/live/live.hpp"
#include "host-tools/views/serve/server.hpp"
#include "host-tools/views/serve/subjects.hpp"

namespace nopscope::host {
namespace {

struct ServeOptions {
    HtmlOptions page;    // report.file: empty for a line; title: empty: the file's name or URI
    LineOptions line;    // from: empty for a recording
    std::string output;  // for a line: also record it to this file; empty: no
    std::string listen;  // an address and a port
    std::string token;   // each request must bring it; empty: make one if the address needs it
};

// Tells whether the last page was closed for good. A reloaded page comes back within `grace`.
class ClosedPage {
public:
    bool is_for_good(std::size_t pages) {
        const auto now = std::chrono::steady_clock::now();
        if (pages != 0) seen_ = now;
        return pages == 0 && seen_ && now - *seen_ > grace;
    }

private:
    static constexpr std::chrono::seconds grace{5};
    std::optional<std::chrono::steady_clock::time_point> seen_;
};

// A server that other machines can reach always has a token.
std::string token_for(const ServeOptions& options, const ListenAddress& at) {
    if (!options.token.empty()) {
        check_token(options.token);
        return options.token;
    }
    return at.is_loopback ? "" : make_token();
}

// Serves until a person ends it or `turn` returns false. Calls `turn` some times a second.
void serve(const ServeOptions& options, Shown& shown,
           const std::function<bool(const Server&)>& turn) {
    const ListenAddress at = listen_address(options.listen);
    const Server server(at, token_for(options, at), shown);
    for (const std::string& url : server.urls()) print(url + "\n");
    standard_output().flush();
    if (isatty(STDERR_FILENO) != 0) say("open that in a browser; Ctrl-C ends it");
    while (!interrupted() && turn(server)) poll(nullptr, 0, 200);
}

Exit serve_file(const ServeOptions& options) {
    ShownFile shown(options.page.report.file, view_of_file(options.page));
    serve(options, shown, [](const Server&) { return true; });
    return Exit::ok;
}

Exit serve_line(const ServeOptions& options) {
    Live live({.line = options.line,
               .record = options.output,
               .timeline = true,
               .on_cpu = options.page.report.on_cpu});
    const std::optional<CodeView> code = code_of_image(options.page);
    ShownLine shown(live, options.page.title.empty() ? options.line.from : options.page.title,
                    options.page.report.raw, code ? &*code : nullptr);
    LineState state = LineState::waiting;
    ClosedPage closed;
    serve(options, shown, [&](const Server& server) {
        const LiveStatus now = live.status();
        if (!options.output.empty() && closed.is_for_good(server.pages())) return false;
        if (now.state == std::exchange(state, now.state)) return true;
        // Without a session there is nothing to show.
        if (now.state == LineState::failed && now.stream.sessions == 0) throw Error(now.sentence);
        if (!now.sentence.empty()) say(now.sentence);
        return true;
    });
    const Exit ended = finish_recording(
        live, [before = std::min(interruptions(), 1)] { return interruptions() > before; });
    return live.status().state == LineState::failed ? Exit::input : ended;
}

Exit serve(const ServeOptions& options) {
    const bool is_file = !options.page.report.file.empty();
    if (is_file == !options.line.from.empty()) {
        throw Error("give a recording, or the line of a target, --from URI", Exit::usage);
    }
    catch_interrupts();
    return is_file ? serve_file(options) : serve_line(options);
}

}  // namespace

Action add_serve(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<ServeOptions>();
    command = add_command(
        app, "serve", "Show a recording, or a target while it runs, in a browser",
        {"nopscope serve run.nsc",
         "nopscope serve --from 'serial:/dev/ttyUSB0?baud=3000000' --image demo.elf -o run.nsc"});
    CLI::Option* const file = add_value(command, "file", options->page.report.file, kind::recording,
                                        "A recording, or a raw capture");
    add_line(command, options->line, "The ELF that was recorded, or that runs there");
    command->get_option("--from")->required(false);
    add_value(command, "-o,--output", options->output, kind::recording,
              "Of a line: record it to this file, too");
    command
        ->add_option("--listen", options->listen,
                     "The address and port; port 0 is any that is free")
        ->default_val("127.0.0.1:0");
    command->add_option("--token", options->token,
                        "What each request must bring; other addresses than this machine's own "
                        "have one in any case");
    add_source(command, options->page);
    command->add_option("--title", options->page.title,
                        "The page's title (the recording's name, or the line)");
    add_raw(command, options->page.report.raw);
    add_on_cpu(command, options->page.report.on_cpu);
    const auto read_steering = add_steering(command, options->line);
    for (const char* const name : {"--from", "--output", "--memory-base", "--keep-tracing",
                                   "--resume", "--allow-convention"}) {
        file->excludes(command->get_option(name));
    }
    for (CLI::App* const steering : command->get_subcommands({})) {
        for (CLI::Option* const option : steering->get_options()) {
            if (option != steering->get_help_ptr()) file->excludes(option);
        }
    }
    return [options, read_steering] {
        read_steering();
        options->page.report.image = options->line.image;
        return serve(*options);
    };
}

}  // namespace nopscope::host
