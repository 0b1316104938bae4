// SPDX-License-Identifier: Apache-2.0
// `serve`: a recording, or a line while it is read, as a page for a browser.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "host-tools/base/interrupt.hpp"
#include "host-tools/base/output.hpp"
#include "host-tools/base/say.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/cli/commands/load.hpp"
#include "host-tools/live/finish.hpp"
#include "host-tools/views/serve/server.hpp"
#include "host-tools/views/serve/subjects.hpp"

namespace nopscope::host {
namespace {

// Knows when the last page was closed for good. A page that is reloaded comes back within `grace`.
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

// Who can reach it must not be everybody.
std::string token_for(const ServeOptions& options, const ListenAddress& at) {
    if (!options.token.empty()) {
        check_token(options.token);
        return options.token;
    }
    return at.is_loopback ? "" : make_token();
}

// Serves until a person ends it or `turn` returns false. Calls `turn` some times a second.
void serve(const ServeOptions& options, Shown& shown, const std::function<bool(const Server&)>& turn) {
    const ListenAddress at = listen_address(options.listen);
    const Server server(at, token_for(options, at), shown);
    print(server.url() + "\n");
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
    Live live({.line = options.line, .record = options.output, .timeline = true});
    const std::optional<CodeView> code = code_of_image(options.page);
    ShownLine shown(live, options.page.title.empty() ? options.line.from : options.page.title,
                    options.page.report.raw, code ? &*code : nullptr);
    LineState state = LineState::waiting;
    ClosedPage closed;
    serve(options, shown, [&](const Server& server) {
        const LiveStatus now = live.status();
        if (!options.output.empty() && closed.is_for_good(server.pages())) return false;
        if (now.state == std::exchange(state, now.state)) return true;
        // Where nothing was heard there is nothing to show.
        if (now.state == LineState::failed && now.stream.sessions == 0) throw Error(now.sentence);
        if (!now.sentence.empty()) say(now.sentence);
        return true;
    });
    const Exit ended = finish_recording(live, [before = std::min(interruptions(), 1)] { return interruptions() > before; });
    return live.status().state == LineState::failed ? Exit::input : ended;
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

}  // namespace nopscope::host
