// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/serve/server.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/command/verbs.hpp"
#include "host-tools/views/page/html.hpp"
#include "host-tools/views/serve/connection.hpp"

namespace nopscope::host {
namespace {

using httplib::Request;
using httplib::Response;
using Words = std::vector<std::string>;

constexpr std::chrono::seconds event_interval{1};

std::string only_header(const Request& request, const char* name) {
    // If there are two, a proxy and a server may choose different ones.
    return request.get_header_value_count(name) == 1 ? request.get_header_value(name)
           : request.has_header(name)                ? "?"
                                                     : "";
}

std::string token_of(const Request& request) {
    if (request.has_param("token")) return request.get_param_value("token");
    const std::string said = only_header(request, "Authorization");
    constexpr std::string_view bearer = "Bearer ";
    return said.starts_with(bearer) ? said.substr(bearer.size()) : "";
}

Asked asked_by(const Request& request) {
    return {.method = request.method,
            .path = request.path,
            .host = only_header(request, "Host"),
            .origin = only_header(request, "Origin"),
            .fetch_site = only_header(request, "Sec-Fetch-Site"),
            .fetch_mode = only_header(request, "Sec-Fetch-Mode"),
            .content_type = only_header(request, "Content-Type"),
            .token = token_of(request)};
}

std::string as_json(const ControlAnswer& answer) {
    const nlohmann::json json{{"status", static_cast<int>(answer.status)},
                              {"text", to_utf8(answer.text)}};
    return json.dump();
}

// web/src/controls.ts declares the fields.
std::string controls_json() {
    nlohmann::json controls = nlohmann::json::array();
    for (const Verb& verb : verbs()) {
        if (!verb.is_on_page) continue;
        const auto values = verb.argument.values;
        controls.push_back({{"verb", verb.name},
                            {"help", verb.help},
                            {"chooses", verb.chooses},
                            {"takes_id", verb.argument.most == 1 && verb.argument.least == 0},
                            {"recorders", verb.has_recorder ? recorder_names() : Words()},
                            {"values", values != nullptr ? values() : Words()}});
    }
    return nlohmann::json{{"controls", std::move(controls)}}.dump();
}

std::string sentence_of(const std::exception_ptr& what) {
    try {
        std::rethrow_exception(what);
    } catch (const std::exception& error) {
        return to_utf8(error.what());
    } catch (...) {
        return "something went wrong";
    }
}

// With a provider, because httplib would otherwise copy and compress the body each time.
void answer_with(Response& response, std::shared_ptr<const std::string> body, const char* type) {
    const std::size_t size = body->size();
    response.set_content_provider(
        size, type, [body](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
            return sink.write(body->data() + offset, length);
        });
}

}  // namespace

class Server::Web final : public httplib::Server {
public:
    Web(const ListenAddress& where, const std::string& a_token, Shown& shown)
        : at(where),
          token(a_token),
          shown_(shown),
          page_(served_page(page_template(), controls_json())) {
        new_task_queue = [] { return new Workers(most_connections); };
        // httplib's own options would let another server use the same port.
        set_socket_options([](socket_t socket) {
            const int yes = 1;
            setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        });
        set_payload_max_length(Connection::max_body_bytes);
        set_default_headers({{"Content-Security-Policy", page_.policy},
                             {"Cache-Control", "no-store"},
                             {"Cross-Origin-Opener-Policy", "same-origin"},
                             {"Cross-Origin-Resource-Policy", "same-origin"},
                             {"Referrer-Policy", "no-referrer"},
                             {"X-Content-Type-Options", "nosniff"}});
        set_pre_routing_handler([this](const Request& request, Response& response) {
            const auto refused = refusal(at, token, asked_by(request));
            if (!refused) return HandlerResponse::Unhandled;
            response.status = refused->status;
            response.set_content(refused->sentence + "\n", "text/plain; charset=utf-8");
            return HandlerResponse::Handled;
        });
        set_exception_handler([](const Request&, Response& response, std::exception_ptr what) {
            response.status = 500;
            response.set_content(sentence_of(what) + "\n", "text/plain; charset=utf-8");
        });
        Get("/", [this](const Request&, Response& response) {
            answer_with(response, {std::shared_ptr<void>(), &page_.html},
                        "text/html; charset=utf-8");
        });
        Get("/view",
            [this](const Request& request, Response& response) { send_view(request, response); });
        Get("/events", [this](const Request&, Response& response) { send_events(response); });
        Post("/request",
             [this](const Request&, Response& response, const httplib::ContentReader& read) {
                 take_request(response, read);
             });
        listen_or_throw();
    }

    ~Web() override {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        stopped_.notify_all();
        // Calls stop() once, and only when the server runs: httplib ignores an earlier call.
        while (!is_running() && !ended_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        stop();
        thread_.join();
    }

    std::size_t pages() const { return followers_; }

    ListenAddress at;
    const std::string token;

private:
    void listen_or_throw() {
        errno = 0;
        const int port = at.port == 0                     ? bind_to_any_port(at.host)
                         : bind_to_port(at.host, at.port) ? at.port
                                                          : -1;
        if (port < 0) {
            throw Error(fmt::format("cannot listen on {}:{}: {}", for_cell(at.host), at.port,
                                    errno == 0 ? "no such address" : system_error(errno)));
        }
        at.port = port;
        thread_ = std::thread([this] {
            listen_after_bind();
            ended_ = true;
        });
    }

    bool process_and_close_socket(socket_t socket) override {
        Connection connection(socket, stopping_);
        bool closed = false;
        const bool done =
            connection.read_head() && process_request(connection, true, closed, nullptr);
        shutdown(socket, SHUT_RDWR);
        close(socket);
        return done;
    }

    void send_view(const Request& request, Response& response) {
        const std::shared_ptr<const Shown::View> view = shown_.view();
        if (!view) {
            response.status = 204;
            return;
        }
        response.set_header("X-View", std::to_string(view->number));
        const bool packed =
            only_header(request, "Accept-Encoding").find("gzip") != std::string::npos;
        if (packed) response.set_header("Content-Encoding", "gzip");
        answer_with(response, {view, packed ? &view->gzip : &view->json},
                    "application/json; charset=utf-8");
    }

    struct Follower {
        explicit Follower(Web& a_web) : web(a_web), number(++web.followers_) {}
        ~Follower() { --web.followers_; }
        Web& web;
        std::size_t number;
        std::uint64_t console = 0;
        bool first = true;
    };

    // httplib does not catch exceptions here.
    bool send_event(Follower& follower, httplib::DataSink& sink) noexcept try {
        const std::string event = "data: " + shown_.status(follower.console) + "\n\n";
        return sink.write(event.data(), event.size());
    } catch (const std::exception&) {
        return false;
    }

    void send_events(Response& response) {
        const auto follower = std::make_shared<Follower>(*this);
        if (follower->number > most_followers) {
            response.status = 503;
            response.set_content("as many pages as there may be are open already\n",
                                 "text/plain; charset=utf-8");
            return;
        }
        response.set_chunked_content_provider(
            "text/event-stream", [this, follower](std::size_t, httplib::DataSink& sink) {
                if (!std::exchange(follower->first, false)) {
                    std::unique_lock lock(mutex_);
                    if (stopped_.wait_for(lock, event_interval,
                                          [this] { return stopping_.load(); }))
                        return false;
                }
                return send_event(*follower, sink);
            });
    }

    void take_request(Response& response, const httplib::ContentReader& read) {
        std::string body;
        const bool whole = read([&body](const char* bytes, std::size_t count) {
            body.append(bytes, count);
            return body.size() <= Connection::max_body_bytes;
        });
        if (!whole) {
            if (response.status == -1) response.status = 400;
            return;
        }
        ControlAnswer answer;
        try {
            answer = shown_.ask(control_request(body));
        } catch (const Error& error) {
            answer = {error.code(), error.what()};
        }
        response.set_content(as_json(answer), "application/json; charset=utf-8");
    }

    Shown& shown_;
    const ServedPage page_;
    std::mutex mutex_;
    std::condition_variable stopped_;
    std::atomic<bool> stopping_ = false;
    std::atomic<bool> ended_ = false;
    std::atomic<std::size_t> followers_ = 0;
    std::thread thread_;
};

Server::Server(const ListenAddress& at, const std::string& token, Shown& shown)
    : web_(std::make_unique<Web>(at, token, shown)) {}
Server::~Server() = default;

const ListenAddress& Server::at() const { return web_->at; }

std::size_t Server::pages() const { return web_->pages(); }

std::vector<std::string> Server::urls() const {
    std::vector<std::string> urls = web_->at.urls();
    for (std::string& url : urls) url += web_->token.empty() ? "" : "?token=" + web_->token;
    return urls;
}

}  // namespace nopscope::host
