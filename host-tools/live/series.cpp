// SPDX-License-Identifier: Apache-2.0
#include "host-tools/live/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "host-tools/base/memory.hpp"
#include "host-tools/base/new_file.hpp"
#include "host-tools/live/live_recording.hpp"

namespace nopscope::host {
namespace {

constexpr std::size_t digits = 6;
constexpr double longest_seconds = 1e9;        // 31 years
constexpr std::uint64_t least_bytes = 10'000;  // the symbols alone need some

}  // namespace

std::optional<Rotation> read_rotation(const std::string& text) {
    static constexpr struct {
        std::string_view name;
        double seconds;
    } units[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    for (const auto& [name, seconds] : units) {
        if (error != std::errc() || unit != name) continue;
        const double time = value * seconds;
        if (!(time >= 1 && time <= longest_seconds)) return std::nullopt;
        return Rotation{.time = std::chrono::duration<double>(time)};
    }
    const auto bytes = read_size(text);
    if (!bytes || *bytes < least_bytes) return std::nullopt;
    return Rotation{.bytes = *bytes};
}

Series::Series(const std::string& path, const Rotation& rotation) : rotation_(rotation) {
    const std::filesystem::path name(path);
    directory_ = name.parent_path();
    stem_ = name.stem().string();
    extension_ = name.extension().string();
    if (const auto found = numbers(); !found.empty()) refuse_other_writer(name_of(found.back()));
}

std::string Series::name_of(std::uint64_t number) const {
    return (directory_ / fmt::format("{}.{:0{}}{}", stem_, number, digits, extension_)).string();
}

std::optional<std::uint64_t> Series::number_of(const std::string& name) const {
    const std::size_t around = stem_.size() + 1 + extension_.size();
    if (name.size() < around + digits || !name.starts_with(stem_ + ".") ||
        !name.ends_with(extension_))
        return std::nullopt;
    const std::string text = name.substr(stem_.size() + 1, name.size() - around);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    // Not run.0000001.nsc: the series would give this number another name.
    if (!is_number || name_of(number) != (directory_ / name).string()) return std::nullopt;
    return number;
}

std::vector<std::uint64_t> Series::numbers() const {
    std::vector<std::uint64_t> found;
    std::error_code error;
    const std::filesystem::path where = directory_.empty() ? "." : directory_;
    for (std::filesystem::directory_iterator each(where, error), end; !error && each != end;
         each.increment(error)) {
        if (const auto number = number_of(each->path().filename().string()))
            found.push_back(*number);
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::string Series::next_name() const {
    const std::vector<std::uint64_t> found = numbers();
    return name_of(found.empty() ? 1 : found.back() + 1);
}

bool Series::is_due(std::chrono::duration<double> age, std::uint64_t bytes) const {
    return (rotation_.time.count() != 0 && age >= rotation_.time) ||
           (rotation_.bytes != 0 && bytes >= rotation_.bytes);
}

void Series::remove_oldest() const {
    if (rotation_.keep == 0) return;
    std::vector<std::string> recordings;
    for (const std::uint64_t number : numbers()) {
        const std::string name = name_of(number);
        if (is_recording(name)) recordings.push_back(name);
    }
    std::error_code ignored;  // a file that remove() cannot delete stays
    for (std::size_t n = 0; n + rotation_.keep < recordings.size(); ++n) {
        std::filesystem::remove(recordings[n], ignored);
    }
}

}  // namespace nopscope::host
