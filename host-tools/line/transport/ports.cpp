// SPDX-License-Identifier: Apache-2.0
#include "host-tools/line/transport/ports.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

// Empty if `path` cannot be examined.
std::string group_of(const std::string& path) {
    struct stat about {};
    if (stat(path.c_str(), &about) != 0) return {};
    const group* const found = getgrgid(about.st_gid);
    return found != nullptr ? found->gr_name : std::to_string(about.st_gid);
}

std::vector<std::string> entries(const std::string& directory) {
    std::vector<std::string> paths;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
        paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

}  // namespace

std::vector<std::string> serial_ports(const std::string& devices) {
    std::vector<std::string> ports;
    for (const std::string& path : entries(devices)) {
        const std::string name = std::filesystem::path(path).filename().string();
        for (const char* const kind : {"ttyUSB", "ttyACM", "ttyAMA"}) {
            if (name.starts_with(kind)) ports.push_back(path);
        }
    }
    for (const std::string& path : entries(devices + "/serial/by-id")) ports.push_back(path);
    return ports;
}

std::string permission_fix(const std::string& port) {
    const std::string group = group_of(port);
    return !group.empty() && group != "root"
               ? fmt::format("sudo usermod -aG {} $USER, and log in again", group)
               : fmt::format("sudo chmod a+rw {}, or a udev rule", port);
}

std::string users_of(const std::string& port) {
    const auto device_of = [](const std::string& path) -> std::uint64_t {
        struct stat about {};
        return stat(path.c_str(), &about) == 0 && S_ISCHR(about.st_mode) ? about.st_rdev : 0;
    };
    const std::uint64_t device = device_of(port);
    const std::uint64_t other_side = makedev(5, 2);  // /dev/ptmx: what emulates this port has both
    std::vector<std::string> users;
    for (const std::string& process : device != 0 ? entries("/proc") : std::vector<std::string>()) {
        const std::string id = process.substr(process.rfind('/') + 1);
        if (id.find_first_not_of("0123456789") != std::string::npos ||
            id == std::to_string(getpid()))
            continue;
        bool has = false, emulates = false;
        for (const std::string& file : entries(process + "/fd")) {
            const std::uint64_t opened = device_of(file);
            has |= opened == device;
            emulates |= opened == other_side;
        }
        std::string name;
        if (has && !emulates && std::getline(std::ifstream(process + "/comm"), name))
            users.push_back(fmt::format("{} ({})", for_cell(name), id));
    }
    return fmt::format("{}", fmt::join(users, " and "));
}

std::string open_failure(const std::string& port, int error) {
    const std::string what =
        fmt::format("cannot open serial port {}: {}", port, system_error(error));
    if (error == EACCES || error == EPERM) return what + ": " + permission_fix(port);
    if (error == EBUSY) {
        const std::string users = users_of(port);
        return fmt::format(
            "{}: another program uses it{}: end that", what,
            users.empty() ? fmt::format(" (sudo fuser -v {} names it)", port) : ", " + users);
    }
    if (error != ENOENT && error != ENXIO && error != ENODEV) return what;
    const std::vector<std::string> ports = serial_ports();
    if (ports.empty()) return what + ": no serial port is connected";
    return fmt::format("{}: these are there: {}", what, fmt::join(ports, ", "));
}

}  // namespace nopscope::host
