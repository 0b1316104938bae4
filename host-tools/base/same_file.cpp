// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/same_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "host-tools/base/error.hpp"

namespace nopscope::host {
namespace fs = std::filesystem;
namespace {

constexpr int most_links = 40;  // Linux's limit (path_resolution(7))

// `dash`: the descriptor for "-". Nothing: the file does not exist.
std::optional<struct stat> status_of(const std::string& path, int dash) {
    struct stat status {};
    const int result = path == "-" ? ::fstat(dash, &status) : ::stat(path.c_str(), &status);
    return result == 0 ? std::optional(status) : std::nullopt;
}

bool is_within(const std::string& file, const std::string& directory) {
    std::error_code error;
    const fs::path inner = fs::canonical(file, error), outer = fs::canonical(directory, error);
    if (error) return false;
    return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first ==
           outer.end();
}

bool changes(const std::string& output, const std::string& input) {
    const auto to = status_of(output, STDOUT_FILENO), from = status_of(input, STDIN_FILENO);
    if (!to || !from || !S_ISREG(from->st_mode)) return false;
    if (S_ISDIR(to->st_mode)) return is_within(input, output);
    return is_same(*to, *from);
}

// The name for a sentence.
std::string shown(const std::string& path, const char* dash) { return path == "-" ? dash : path; }

}  // namespace

bool is_same(const struct stat& one, const struct stat& other) {
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

std::optional<int> open_descriptor(const fs::path& path) {
    const std::string directory = path.parent_path().string(), name = path.filename().string();
    if (directory != "/dev/fd" && directory != "/proc/self/fd" &&
        directory != fmt::format("/proc/{}/fd", ::getpid())) {
        return std::nullopt;
    }
    int number = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size() || number < 0) return std::nullopt;
    return number;
}

fs::path follow_links(const fs::path& path) {
    fs::path at = path;
    for (int links = 0; links < most_links && !open_descriptor(at); ++links) {
        std::error_code error;
        const fs::path next = fs::read_symlink(at, error);
        if (error) break;
        at = next.is_absolute() ? next : at.parent_path() / next;
    }
    return at;
}

void refuse_if_same(const std::string& output, std::span<const std::string> inputs) {
    if (output.empty()) return;
    for (const std::string& input : inputs) {
        if (input.empty() || !changes(output, input)) continue;
        const std::string to = shown(output, "standard output"),
                          from = shown(input, "standard input");
        const std::string which = to == from ? "" : fmt::format(" ({})", from);
        throw Error(
            fmt::format("{} is a file that this command reads{}: give another output", to, which),
            Exit::usage);
    }
}

void refuse_same_outputs(const std::string& one, const std::string& other) {
    if (one.empty() || other.empty()) return;
    const auto first = status_of(one, STDOUT_FILENO), second = status_of(other, STDOUT_FILENO);
    std::error_code error;
    const bool is_one =
        first || second ? first && second && S_ISREG(first->st_mode) && is_same(*first, *second)
                        : fs::weakly_canonical(follow_links(fs::absolute(one, error)), error) ==
                              fs::weakly_canonical(follow_links(fs::absolute(other, error)), error);
    if (is_one)
        throw Error(fmt::format("{} and {} are one file: give two names", one, other), Exit::usage);
}

}  // namespace nopscope::host
