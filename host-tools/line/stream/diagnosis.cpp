// SPDX-License-Identifier: Apache-2.0
#include "host-tools/line/stream/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host-tools/base/text.hpp"
#include "host-tools/line/stream/baud.hpp"
#include "host-tools/line/stream/hello_reader.hpp"

namespace nopscope::host {
namespace {

// A boot loader's text may have a damaged byte.
constexpr std::size_t text_percent = 95;

bool is_text(std::span<const std::uint8_t> bytes) {
    const auto printable = std::count_if(bytes.begin(), bytes.end(), [](std::uint8_t byte) {
        return (byte >= ' ' && byte < 0x7f) || byte == '\n' || byte == '\r' || byte == '\t' ||
               byte == '\x1b';
    });
    return static_cast<std::size_t>(printable) * 100 >= bytes.size() * text_percent;
}

Diagnosis noise(const LineSample& sample) {
    Diagnosis said{
        Diagnosis::noise,
        fmt::format("{} bytes came, and not one frame among them", with_commas(sample.line.bytes)),
        {}};
    if (sample.baud == 0) {
        said.fix = "is this a nopscope target's line, at the baud rate of its UART?";
        return said;
    }
    const std::vector<std::uint32_t> likely = likely_bauds(sample.bytes, sample.baud);
    if (likely.empty()) {
        said.fix = fmt::format("is ?baud={} the rate of the target's UART?", sample.baud);
    } else if (likely.size() == 1) {
        said.fix =
            fmt::format("they look as if sent at {} baud: give ?baud={}", likely[0], likely[0]);
    } else {
        said.fix = fmt::format("they look as if sent at {} or {} baud: give ?baud={}", likely[0],
                               likely[1], likely[0]);
    }
    return said;
}

}  // namespace

Diagnosis diagnose(const LineSample& sample) {
    const LineCounters& line = sample.line;
    if (sample.stream.refused_version != 0) {
        return {Diagnosis::refused_version, refused_version_sentence(sample.stream.refused_version),
                "use a nopscope of the same version as the target's tracer"};
    }
    const Diagnosis changed{
        Diagnosis::changed,
        fmt::format("{} bytes came, and {} among them: {}", with_commas(line.bytes),
                    line.frames == 0 ? "not one frame" : "no hello", sample.changed.what),
        sample.changed.fix};
    if (sample.changed.is_proven) return changed;
    if (line.frames != 0) {
        return {Diagnosis::frames,
                fmt::format("{} frames came, and no hello among them", with_commas(line.frames)),
                "a target sends one each second: does its firmware still call pump()?"};
    }
    if (line.bytes == 0) {
        return {Diagnosis::silence,
                sample.seconds < 0.1 ? "no byte came"
                                     : fmt::format("no byte came in {:.1f} s", sample.seconds),
                sample.baud == 0
                    ? "is the target on, and is this its line?"
                    : "is the target on, is this its port, and is its TX wired to this RX?"};
    }
    if (line.stray_zeros == line.bytes) {
        return {Diagnosis::zeros,
                fmt::format("{} bytes came, and all are zero", with_commas(line.bytes)),
                sample.baud == 0
                    ? "is this a nopscope target's line?"
                    : fmt::format("is the target on and wired, or is its rate far below {} baud?",
                                  sample.baud)};
    }
    if (is_text(sample.bytes)) {
        return {Diagnosis::text,
                fmt::format("{} bytes of text came, and not one frame", with_commas(line.bytes)),
                "does this firmware contain the tracer, and does it call init() and pump()?"};
    }
    const bool is_rate = sample.baud != 0 && !likely_bauds(sample.bytes, sample.baud).empty();
    return sample.changed.what.empty() || is_rate ? noise(sample) : changed;
}

std::string refused_version_sentence(std::uint16_t version) {
    if (reads_format(version))
        return "the target's architecture is one that this nopscope does not know";
    return fmt::format("the target speaks trace format {}, and this nopscope reads {} to {}",
                       version, oldest_format_version, protocol::last_format_version);
}

}  // namespace nopscope::host
