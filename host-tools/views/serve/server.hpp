// SPDX-License-Identifier: Apache-2.0
// Serves the page and its requests over HTTP (docs/cli.md):
//
//     GET /        the page           GET /events    the status, each second, as server-sent events
//     GET /view    the view (JSON)    POST /request  ControlRequest -> {"status": 0, "text": "ok"}
//     GET /recording  what was recorded so far, as a recording's file
//
// Every other path is unknown; there are no other files. Each connection serves one request.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host-tools/views/serve/access.hpp"
#include "host-tools/views/serve/shown.hpp"

namespace nopscope::host {

class Server {
public:
    static constexpr std::size_t most_connections = 16;  // others wait
    static constexpr std::size_t most_followers = 8;  // event streams among them; more are refused

    // Listens from now on. Each request must have `token`, unless it is empty. Throws Error.
    Server(const ListenAddress& at, const std::string& token, Shown& shown);
    // Ends the answers in progress.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    const ListenAddress& at() const;
    std::vector<std::string> urls() const;  // to open in a browser, with the token
    std::size_t pages() const;  // open pages. The server notices a closed one within two seconds

private:
    class Web;
    std::unique_ptr<Web> web_;
};

}  // namespace nopscope::host
