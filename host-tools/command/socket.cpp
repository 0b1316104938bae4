// SPDX-License-Identifier: Apache-2.0
#include "host-tools/command/socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/command/verbs.hpp"
#include "host-tools/line/transport/source.hpp"

namespace nopscope::host {
namespace {

constexpr std::size_t longest_line = std::size_t{1} << 16;
constexpr std::size_t most_peers = 16;
constexpr std::chrono::seconds longest_request{2};

}  // namespace

ControlSocket::ControlSocket(const std::string& path) : path_(path) {
    const sockaddr_un address = unix_address(path);
    const auto* const where = reinterpret_cast<const sockaddr*>(&address);
    struct stat there {};
    if (lstat(path.c_str(), &there) == 0 && S_ISSOCK(there.st_mode)) {
        const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        // A recorder whose queue is full also uses the socket.
        const bool used = connect(probe, where, sizeof address) == 0 || errno == EAGAIN;
        close(probe);
        if (used) throw Error(path + " is another recorder's control socket: choose another path");
        unlink(path.c_str());
    }
    listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const mode_t others = umask(0077);
    const bool bound = listener_ >= 0 && bind(listener_, where, sizeof address) == 0;
    const int error = errno;
    umask(others);
    if (!bound || listen(listener_, most_peers) != 0) {
        if (listener_ >= 0) close(listener_);
        throw Error("cannot make the control socket " + path + ": " +
                    system_error(bound ? errno : error));
    }
}

ControlSocket::~ControlSocket() {
    for (const Peer& peer : peers_) close(peer.descriptor);
    close(listener_);
    unlink(path_.c_str());
}

void ControlSocket::drop(std::size_t peer) {
    close(peers_[peer].descriptor);
    peers_.erase(peers_.begin() + static_cast<long>(peer));
}

// Accepts the waiting peers, but no more than can wait at once.
void ControlSocket::accept_peers() {
    for (std::size_t n = 0; n <= most_peers; ++n) {
        const int peer = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (peer < 0) return;
        if (peers_.size() == most_peers) drop(0);
        peers_.push_back({peer, {}, Clock::now()});
    }
}

std::optional<ControlRequest> ControlSocket::take() {
    accept_peers();
    const auto now = Clock::now();
    for (std::size_t i = 0; i < peers_.size();) {
        char bytes[4096];
        const ssize_t count = recv(peers_[i].descriptor, bytes, sizeof bytes, 0);
        if (count > 0) peers_[i].line.append(bytes, static_cast<std::size_t>(count));
        const std::size_t end = peers_[i].line.find('\n');
        if (end != std::string::npos) {
            std::rotate(peers_.begin(), peers_.begin() + static_cast<long>(i),
                        peers_.begin() + static_cast<long>(i) + 1);
            const std::string line = peers_[0].line.substr(0, end);
            try {
                return control_request(line);
            } catch (const Error& error) {
                answer({error.code(), error.what()});
                return std::nullopt;
            }
        }
        const bool gone = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
        const bool is_late = count < 0 && now - peers_[i].since > longest_request;
        if (gone || is_late || peers_[i].line.size() > longest_line) {
            drop(i);
        } else {
            ++i;
        }
    }
    return std::nullopt;
}

void ControlSocket::answer(const ControlAnswer& answer) {
    const nlohmann::json json{{"status", static_cast<int>(answer.status)},
                              {"text", to_utf8(answer.text)}};
    const std::string line = json.dump() + "\n";
    // A peer that does not read loses its answer.
    (void)send(peers_[0].descriptor, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    drop(0);
}

ControlAnswer ask_recorder(const std::string& path, const ControlRequest& request) {
    const auto recorder = open_unix(path);
    const std::string line = to_json(request) + "\n";
    recorder->write({reinterpret_cast<const std::uint8_t*>(line.data()), line.size()});
    std::string answer;
    std::uint8_t bytes[4096];
    for (;;) {
        const Source::Result got = recorder->read(bytes, std::chrono::milliseconds(30000));
        answer.append(bytes, bytes + got.count);
        if (answer.ends_with('\n')) break;
        if (got.closed || got.count == 0 || answer.size() > longest_line) {
            throw Error("the recorder at " + path + " has not answered: has its recording ended?");
        }
    }
    try {
        const nlohmann::json json = nlohmann::json::parse(answer);
        return {static_cast<Exit>(json.at("status").get<int>()),
                json.at("text").get<std::string>()};
    } catch (const nlohmann::json::exception&) {
        throw Error("what listens at " + path + " is no nopscope recorder");
    }
}

std::string to_json(const ControlRequest& request) {
    nlohmann::json json{{"words", request.words},
                        {"notrace", request.choice.notrace},
                        {"recorder", request.recorder},
                        {"also", request.also}};
    if (request.choice.size_above) json["size_above"] = *request.choice.size_above;
    return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

ControlRequest control_request(std::string_view text) {
    ControlRequest request;
    try {
        const nlohmann::json json = nlohmann::json::parse(text);
        request.words = json.at("words").get<std::vector<std::string>>();
        request.choice.notrace = json.value("notrace", std::vector<std::string>{});
        request.recorder = json.value("recorder", "");
        request.also = json.value("also", false);
        if (json.contains("size_above")) {
            request.choice.size_above = json.at("size_above").get<std::uint64_t>();
        }
    } catch (const nlohmann::json::exception&) {
        throw Error("the request is no JSON object with `words`: see docs/control.md", Exit::usage);
    }
    check(request);
    return request;
}

}  // namespace nopscope::host
