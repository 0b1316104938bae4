// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/source_text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <filesystem>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"

namespace nopscope::host {
namespace {

constexpr std::array<std::string_view, 22> endings = {
    ".c", ".h", ".cc", ".hh",  ".cpp", ".hpp", ".cxx", ".hxx", ".c++", ".h++", ".C",
    ".S", ".s", ".sx", ".asm", ".inc", ".inl", ".ipp", ".tcc", ".def", ".rs",  ".zig"};

// "C:/x" or "C:\x".
bool has_drive(std::string_view path) {
    const auto is_letter = [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; };
    return path.size() > 2 && is_letter(path[0]) && path[1] == ':' &&
           (path[2] == '/' || path[2] == '\\');
}

bool begins_with_path(std::string_view path, std::string_view prefix, bool in_any_case) {
    if (!in_any_case) return path.starts_with(prefix);
    const auto alike = [](unsigned char a, unsigned char b) {
        return std::tolower(a) == std::tolower(b);
    };
    return path.size() >= prefix.size() &&
           std::equal(prefix.begin(), prefix.end(), path.begin(), alike);
}

bool has_parent(const std::string& name) {
    return ("/" + name + "/").find("/../") != std::string::npos;
}

// libstdc++'s headers have no suffix.
bool is_source_name(const std::string& path) {
    if (std::any_of(endings.begin(), endings.end(),
                    [&](std::string_view ending) { return path.ends_with(ending); }))
        return true;
    return path.find("/include/c++/") != std::string::npos && !has_parent(path) &&
           path.find('.', path.rfind('/')) == std::string::npos;
}

// Reads regular files only: opening a pipe or a device must not block or have an effect.
SourceText read(int file) {
    SourceText out;
    struct stat about {};
    if (fstat(file, &about) != 0) return {.lines = {}, .refusal = system_error(errno)};
    if (!S_ISREG(about.st_mode)) return {.lines = {}, .refusal = "it is not a regular file"};
    if (about.st_size < 0 || static_cast<std::uint64_t>(about.st_size) > SourceText::max_bytes) {
        return {.lines = {},
                .refusal = fmt::format("it is larger than {} MiB", SourceText::max_bytes >> 20)};
    }
    out.modified = about.st_mtime;
    std::string bytes(static_cast<std::size_t>(about.st_size), '\0');
    std::size_t have = 0;
    while (have < bytes.size()) {
        const ssize_t got = ::read(file, bytes.data() + have, bytes.size() - have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return {.lines = {}, .refusal = system_error(errno)};
        if (got == 0) break;
        have += static_cast<std::size_t>(got);
    }
    bytes.resize(have);
    if (bytes.find('\0') != std::string::npos) return {.lines = {}, .refusal = "it is not text"};
    for (std::size_t from = 0; from < bytes.size();) {
        const std::size_t end = std::min(bytes.find('\n', from), bytes.size());
        out.lines.push_back(
            bytes.substr(from, end - from - (end > from && bytes[end - 1] == '\r' ? 1 : 0)));
        from = end + 1;
    }
    return out;
}

SourceText read_file(const std::string& path) {
    struct stat about {};
    // Checks the kind before open(), because opening a device can have an effect.
    if (stat(path.c_str(), &about) != 0) return {.lines = {}, .refusal = system_error(errno)};
    if (!S_ISREG(about.st_mode)) return {.lines = {}, .refusal = "it is not a regular file"};
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return {.lines = {}, .refusal = system_error(errno)};
    SourceText out = read(file);
    close(file);
    return out;
}

}  // namespace

std::string source_path(std::string_view name) {
    if (name.find('\\') == name.npos && !has_drive(name)) return std::string(name);
    // libdw takes `C:\x` and `\\server\x` for relative paths, and puts the unit's directory before.
    for (std::size_t at = name.size(); at-- > 1;) {
        const std::string_view rest = name.substr(at);
        if (name[at - 1] == '/' && (has_drive(rest) || rest.starts_with("\\\\"))) {
            name = rest;
            break;
        }
    }
    std::string path(name);
    std::ranges::replace(path, '\\', '/');
    return std::filesystem::path(path).lexically_normal();
}

SourceText read_source_text(const std::string& name, const std::vector<std::string>& roots) {
    const std::string path = std::filesystem::path(source_path(name)).lexically_normal();
    if (!is_source_name(path))
        return {.lines = {}, .refusal = "it has not the name of a source file"};
    const bool is_windows = has_drive(path), is_absolute = is_windows || path.starts_with('/');
    SourceText out{.lines = {}, .refusal = "no directory to look for it in is known"};
    for (const std::string& root : roots) {
        const std::size_t equals = root.find('=');
        std::string prefix = equals == std::string::npos ? "" : source_path(root.substr(0, equals));
        if (equals != std::string::npos && !prefix.ends_with('/')) prefix += '/';
        if (prefix.empty() ? is_absolute : !begins_with_path(path, prefix, is_windows)) continue;
        const std::string below = path.substr(prefix.size());
        if (has_parent(below))
            return {.lines = {},
                    .refusal = "it is outside of the directory that it is looked for in"};
        out =
            read_file((equals == std::string::npos ? root : root.substr(equals + 1)) + "/" + below);
        if (out.refusal.empty()) return out;
    }
    return name.starts_with('/') ? read_file(name) : out;
}

}  // namespace nopscope::host
