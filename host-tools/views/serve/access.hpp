// SPDX-License-Identifier: Apache-2.0
// Decides from a request's head whether the server answers it (docs/security.md).
//
// A page of another site, open in the same browser, can also send requests to this server. It can
// also make its own name resolve to this machine. So the request must name the server as its host,
// and must come from the server's own page.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nopscope::host {

// Where a server listens: "127.0.0.1:8000", "[::1]:0", "lab.example:8000".
struct ListenAddress {
    std::string host;
    int port = 0;              // 0: any free port
    bool is_loopback = false;  // only programs of this machine can connect

    // "http://127.0.0.1:8000/". Several if it stands for all addresses of this machine (0.0.0.0,
    // ::), which no browser can open.
    std::vector<std::string> urls() const;
};
// Throws Error, Exit::usage.
ListenAddress listen_address(std::string_view text);

// What a request's head says; empty: nothing.
struct Asked {
    std::string method;
    std::string path;        // without the query
    std::string host;        // Host
    std::string origin;      // Origin: the page that sends the request, if the browser says so
    std::string fetch_site;  // Sec-Fetch-Site, likewise
    std::string fetch_mode;  // Sec-Fetch-Mode
    std::string content_type;
    std::string token;
};

struct Refusal {
    int status = 0;  // HTTP's
    std::string sentence;
};

// Nothing: the server may answer. `token`: each request must have it; empty: none is needed.
std::optional<Refusal> refusal(const ListenAddress& at, std::string_view token, const Asked& asked);

// 128 random bits, as text. Throws Error.
std::string make_token();
// Throws Error (Exit::usage) if a token is too short, or does not fit into a URL.
void check_token(std::string_view token);

}  // namespace nopscope::host
