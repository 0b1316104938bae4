// SPDX-License-Identifier: Apache-2.0
// `serve`: a recording, or a line while it is read, as a page for a browser.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>

#include "host-tools/base/interrupt.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/commands/load.hpp"
#include "host-tools/serve/server.hpp"
#include "host-tools/serve/subjects.hpp"

namespace nopscope {
namespace {

void say(const std::string& sentence) { fmt::print(stderr, "nopscope: {}\n", for_terminal(sentence)); }

// Who can reach it must not be everybody.
std::string token_for(const ServeOptions& options, const ListenAddress& at) {
    if (!options.token.empty()) {
        check_token(options.token);
        return options.token;
    }
    return at.is_loopback ? "" : make_token();
}

// Until a person ends it; `turn` is called some times a second.
void serve(const ServeOptions& options, Shown& shown, const std::function<void()>& turn) {
    const ListenAddress at = listen_address(options.listen);
    const Server server(at, token_for(options, at), shown);
    print(server.url() + "\n");
    std::fflush(stdout);
    if (isatty(STDERR_FILENO) != 0) say("open that in a browser; Ctrl-C ends it");
    while (!interrupted()) {
        turn();
        poll(nullptr, 0, 200);
    }
}

Exit serve_file(const ServeOptions& options) {
    ShownFile shown(options.page.report.file, view_of_file(options.page));
    serve(options, shown, [] {});
    return Exit::ok;
}

Exit serve_line(const ServeOptions& options) {
    // The line first: a port that is not there must not cost an older recording.
    Live live({.line = options.line, .timeline = true});
    if (!options.output.empty()) live.start_recording(options.output);
    const std::optional<CodeView> code = code_of_image(options.page);
    ShownLine shown(live, options.page.title.empty() ? options.line.from : options.page.title,
                    options.page.report.raw, code ? &*code : nullptr);
    LineState state = LineState::waiting;
    serve(options, shown, [&] {
        const Status now = live.status();
        if (now.state == std::exchange(state, now.state)) return;
        // Where nothing was heard there is nothing to show.
        if (now.state == LineState::failed && now.stream.sessions == 0) throw Error(now.sentence);
        if (!now.sentence.empty()) say(now.sentence);
    });
    if (!options.output.empty() && live.status().recording.on) {
        const SideRecording of = live.stop_recording();
        say(fmt::format("{}: {} bytes, from {} bytes of the line; {} events", of.path,
                        with_commas(of.file_bytes), with_commas(of.line_bytes), with_commas(of.records)));
    }
    return live.status().state == LineState::failed ? Exit::input : Exit::ok;
}

}  // namespace

Exit serve(const ServeOptions& options) {
    const bool is_file = !options.page.report.file.empty();
    if (is_file == !options.line.from.empty()) {
        throw Error("give a recording, or the line of a target, --from URI", Exit::usage);
    }
    catch_interrupts();
    return is_file ? serve_file(options) : serve_line(options);
}

}  // namespace nopscope
