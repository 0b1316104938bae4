// SPDX-License-Identifier: Apache-2.0
// `ctl`: one request to a target, over a line of its own or through the recorder that holds it.
#include <array>

#include "host-tools/base/output.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/commands/commands.hpp"
#include "host-tools/control/socket.hpp"

namespace nopscope {
namespace {

// Only hellos and replies matter here.
class Listener final : public SessionSink {
public:
    void on_session(const HelloInfo& session) override {
        hello = session;
        if (client != nullptr) client->on_session(session.session);
    }
    void on_reply(const wire::Reply& reply) override {
        if (client != nullptr) client->on_reply(reply);
    }
    void on_trace(unsigned, const TraceBatch&) override {}

    HelloInfo hello;
    CommandClient* client = nullptr;
};

std::string over_line(const CtlOptions& options) {
    std::optional<Symbols> symbols;
    if (!options.image.empty()) symbols = read_symbols(ElfFile::open(options.image));
    check_names(options.request, symbols ? &*symbols : nullptr);
    const auto line = open_source(options.from, Way::both);
    Listener listener;
    SessionReader reader(listener);
    std::array<std::uint8_t, 1 << 16> buffer;
    CommandClient client(*line, [&] {
        const Source::Result got = line->read(buffer, std::chrono::milliseconds(20));
        reader.feed({buffer.data(), got.count});
        if (listener.client != nullptr) listener.client->on_frames(reader.line().frames);
        return !got.closed;
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

}  // namespace nopscope
