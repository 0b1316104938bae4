// SPDX-License-Identifier: Apache-2.0
// The page and what it asks for, over HTTP (docs/cli.md):
//
//     GET /           the page            GET /events    how things are, each second, as server-sent events
//     GET /view       the view, as JSON   POST /request  a ControlRequest as JSON -> {"status": 0, "text": "ok"}
//
// There are no files: what is not in this list is not there. Each connection is one request's.
#pragma once

#include <memory>
#include <string>

#include "host-tools/views/serve/access.hpp"
#include "host-tools/views/serve/shown.hpp"

namespace nopscope::host {

class Server {
public:
    static constexpr std::size_t most_connections = 16;  // others wait
    static constexpr std::size_t most_followers = 8;     // of them, for events; others are refused

    // Listens from now on. `token`: what each request must bring; empty: none. Throws Error.
    Server(const ListenAddress& at, const std::string& token, Shown& shown);
    // Ends what is being answered.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    const ListenAddress& at() const;
    std::string url() const;  // to open: with the token
    std::size_t pages() const;  // open pages. The server notices a closed one within two seconds

private:
    class Web;
    std::unique_ptr<Web> web_;
};

}  // namespace nopscope::host
