// SPDX-License-Identifier: Apache-2.0
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"
#include "host-tools/line/transport/source.hpp"

namespace nopscope::host {

std::unique_ptr<Source> open_tcp(const std::string& host, const std::string& port) {
    const std::string name = host + ":" + port;
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0) {
        throw Error("cannot resolve " + name + ": " + gai_strerror(error));
    }
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
    int last_error = 0;
    for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
        const int connection =
            socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
        if (connection < 0) {
            last_error = errno;
            continue;
        }
        if (connect(connection, at->ai_addr, at->ai_addrlen) == 0) {
            return std::make_unique<DescriptorSource>(connection, name);
        }
        last_error = errno;
        close(connection);
    }
    throw Error("cannot connect to " + name + ": " + system_error(last_error));
}

sockaddr_un unix_address(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path) {
        throw Error("unix:" + path + ": expected a path of 1 to " +
                        std::to_string(sizeof address.sun_path - 1) + " bytes",
                    Exit::usage);
    }
    std::memcpy(address.sun_path, path.data(), path.size());
    return address;
}

std::unique_ptr<Source> open_unix(const std::string& path) {
    const sockaddr_un address = unix_address(path);
    const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0) throw Error("cannot make a socket: " + system_error(errno));
    if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        const int error = errno;
        close(connection);
        throw Error("cannot connect to " + path + ": " + system_error(error));
    }
    return std::make_unique<DescriptorSource>(connection, path);
}

}  // namespace nopscope::host
