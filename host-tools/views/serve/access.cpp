// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/serve/access.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

constexpr std::size_t shortest_token = 16;

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

// True if `text` has only bytes that occur in a name or an address.
bool is_host_name(std::string_view text) {
    constexpr std::string_view more = ".-_:%";  // % before the zone of an IPv6 address
    return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
               more.find(c) != std::string_view::npos;
    });
}

// "[::1]:80" -> "::1"; "name:80" -> "name". Nothing for other texts.
struct HostAndPort {
    std::string host;
    std::optional<int> port;
};
std::optional<HostAndPort> split(std::string_view text) {
    HostAndPort out;
    std::size_t end = text.find(':');
    if (text.starts_with('[')) {
        const std::size_t close = text.find(']');
        if (close == std::string_view::npos) return std::nullopt;
        out.host = lower(text.substr(1, close - 1));
        end = close + 1 < text.size() ? close + 1 : std::string_view::npos;
    } else {
        out.host = lower(text.substr(0, end));
    }
    if (!is_host_name(out.host)) return std::nullopt;
    if (end == std::string_view::npos) return out;
    if (text[end] != ':') return std::nullopt;
    const std::string_view digits = text.substr(end + 1);
    int port = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (error != std::errc() || stop != digits.data() + digits.size() || port < 0 || port > 65535)
        return std::nullopt;
    out.port = port;
    return out;
}

enum class Kind : std::uint8_t { name, address, loopback };
Kind kind_of(const std::string& host) {
    in_addr v4{};
    if (inet_pton(AF_INET, host.c_str(), &v4) == 1) {
        return ntohl(v4.s_addr) >> 24 == 127 ? Kind::loopback : Kind::address;
    }
    in6_addr v6{};
    if (inet_pton(AF_INET6, host.c_str(), &v6) == 1)
        return IN6_IS_ADDR_LOOPBACK(&v6) ? Kind::loopback : Kind::address;
    return host == "localhost" ? Kind::loopback : Kind::name;
}

// Takes the same time wherever the texts differ.
bool same_secret(std::string_view a, std::string_view b) {
    unsigned difference = a.size() == b.size() ? 0 : 1;
    for (std::size_t n = 0; n < a.size(); ++n) {
        difference |= static_cast<unsigned char>(a[n]) ^
                      static_cast<unsigned char>(n < b.size() ? b[n] : '\0');
    }
    return difference == 0;
}

// Of this machine's interfaces, the loopback ones last.
std::vector<std::string> own_addresses(bool with_v6) {
    std::vector<std::string> others, loopback;
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return {"127.0.0.1"};
    for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
        const sockaddr* const address = each->ifa_addr;
        if (address == nullptr) continue;
        const bool is_v6 = address->sa_family == AF_INET6;
        if (address->sa_family != AF_INET && !(is_v6 && with_v6)) continue;
        const std::size_t size = is_v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
        char text[NI_MAXHOST];
        if (getnameinfo(address, static_cast<socklen_t>(size), text, sizeof text, nullptr, 0,
                        NI_NUMERICHOST) != 0)
            continue;
        const std::string host = text;
        if (host.find('%') != std::string::npos) continue;  // a link's address needs a zone
        (kind_of(host) == Kind::loopback ? loopback : others).push_back(host);
    }
    freeifaddrs(list);
    others.insert(others.end(), loopback.begin(), loopback.end());
    return others.empty() ? std::vector<std::string>{"127.0.0.1"} : others;
}

bool host_is_ours(const ListenAddress& at, std::string_view host) {
    const auto said = split(host);
    if (!said) return false;
    if (said->host == at.host) return true;
    // No name server can redirect an address, but a loopback server has only loopback addresses.
    const Kind kind = kind_of(said->host);
    return kind == Kind::loopback || (kind == Kind::address && !at.is_loopback);
}

}  // namespace

std::vector<std::string> ListenAddress::urls() const {
    const bool is_any = host == "0.0.0.0" || host == "::";
    std::vector<std::string> all;
    for (const std::string& each : is_any ? own_addresses(host == "::") : std::vector{host}) {
        const bool is_v6 = each.find(':') != std::string::npos;
        all.push_back(
            fmt::format("http://{}{}{}:{}/", is_v6 ? "[" : "", each, is_v6 ? "]" : "", port));
    }
    return all;
}

ListenAddress listen_address(std::string_view text) {
    const auto said = split(text);
    if (!said || !said->port) {
        throw Error(
            fmt::format("{}: expected an address and a port, as 127.0.0.1:8000 or [::1]:8000",
                        for_cell(text)),
            Exit::usage);
    }
    return {said->host, *said->port, kind_of(said->host) == Kind::loopback};
}

std::optional<Refusal> refusal(const ListenAddress& at, std::string_view token,
                               const Asked& asked) {
    if (!host_is_ours(at, asked.host)) {
        return Refusal{403, "this server is not what the address names: ask for it by its own"};
    }
    if (!asked.origin.empty() && lower(asked.origin) != "http://" + lower(asked.host)) {
        return Refusal{403, "another site's page asks: only this server's own may"};
    }
    const bool is_page = asked.method == "GET" && asked.path == "/";
    const std::string& site = asked.fetch_site;
    if (!site.empty() && site != "same-origin" && site != "none" &&
        !(is_page && asked.fetch_mode == "navigate")) {
        return Refusal{403, "another site's page asks: only this server's own may"};
    }
    if (!token.empty() && !same_secret(token, asked.token)) {
        return Refusal{
            403,
            "the token is missing or wrong: take the whole URL that nopscope serve has printed"};
    }
    const bool is_request = asked.path == "/request";
    constexpr std::string_view read[] = {"/", "/view", "/events", "/recording"};
    if (!is_request && std::find(std::begin(read), std::end(read), asked.path) == std::end(read)) {
        return Refusal{404, "there is nothing here but /, /view, /events, /recording and /request"};
    }
    if (asked.method != (is_request ? "POST" : "GET"))
        return Refusal{405, is_request ? "POST it" : "only GET"};
    if (is_request &&
        asked.content_type.substr(0, asked.content_type.find(';')) != "application/json") {
        return Refusal{415, "a request is application/json"};
    }
    return std::nullopt;
}

std::string make_token() {
    std::array<std::uint8_t, 16> bytes{};
    if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        throw Error("this machine has no random numbers for a token: give one, --token TEXT");
    }
    return to_hex(bytes);
}

void check_token(std::string_view token) {
    constexpr std::string_view more = "-._~";
    const bool fits = std::all_of(token.begin(), token.end(), [&](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               more.find(c) != std::string_view::npos;
    });
    if (!fits || token.size() < shortest_token) {
        throw Error(fmt::format("--token: at least {} of A-Z a-z 0-9 - . _ ~", shortest_token),
                    Exit::usage);
    }
}

}  // namespace nopscope::host
