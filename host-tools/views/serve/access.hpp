// SPDX-License-Identifier: Apache-2.0
// Who may ask a server on this machine what: decided from a request's head alone (docs/security.md).
//
// A page of another site, open in the same browser, can send requests here, too, and can have its own name
// resolved to this machine. So the name by which a server is asked, and the page that asks, must be its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nopscope::host {

// Where a server listens: "127.0.0.1:8000", "[::1]:0", "lab.example:8000".
struct ListenAddress {
    std::string host;
    int port = 0;           // 0: any that is free
    bool is_loopback = false;  // only this machine's own programs reach it

    std::string url() const;  // "http://127.0.0.1:8000/"
};
// Throws Error, Exit::usage.
ListenAddress listen_address(std::string_view text);

// What a request says of itself; empty: nothing.
struct Asked {
    std::string method;
    std::string path;          // without the query
    std::string host;          // Host
    std::string origin;        // Origin: the page that asks, where a browser says it
    std::string fetch_site;    // Sec-Fetch-Site, likewise
    std::string fetch_mode;    // Sec-Fetch-Mode
    std::string content_type;
    std::string token;
};

struct Refusal {
    int status = 0;  // HTTP's
    std::string sentence;
};

// Nothing: it may be answered. `token`: what each request must bring; empty: none.
std::optional<Refusal> refusal(const ListenAddress& at, std::string_view token, const Asked& asked);

// 128 bits of chance, as text. Throws Error.
std::string make_token();
// Throws Error, Exit::usage, where a token is too short, or would not fit into a URL.
void check_token(std::string_view token);

}  // namespace nopscope::host
