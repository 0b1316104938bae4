// SPDX-License-Identifier: Apache-2.0
// `ctl`: one request to a target, over a line of its own or through the recorder that holds it.
#include "host-tools/base/output.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/live/line.hpp"
#include "host-tools/target/control/socket.hpp"
#include "host-tools/target/control/verbs.hpp"

namespace nopscope::host {
namespace {

// Only hellos and replies matter here.
class Listener final : public SessionSink {
public:
    void on_session(const HelloInfo& session) override {
        hello = session;
        client->on_session(session.session);
    }
    void on_reply(const protocol::Reply& reply) override {
        client->on_reply(reply);
    }
    void on_trace(unsigned, const TraceBatch&) override {}

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
        // Another rate may be the right one. Behind a busy target's frames a hello may still come.
        if (is_wrong && !line.searches() && line.diagnosis().kind != Diagnosis::frames) {
            throw Error(line.diagnosis().sentence());
        }
        return true;
    });
    listener.client = &client;
    return perform(options.request, {client, symbols ? &*symbols : nullptr, listener.hello}).text;
}

}  // namespace

Exit ctl(const CtlOptions& options) {
    check(options.request);
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

}  // namespace nopscope::host
