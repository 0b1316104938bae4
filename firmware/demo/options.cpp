// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace {

bool parse_number(std::string_view text, std::uint32_t& value) {
    const auto end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    return result.ec == std::errc{} && result.ptr == end;
}

bool parse_events(std::string_view text, Options& options) {
    const std::string_view first = text.substr(0, text.find('+'));
    text.remove_prefix(first.size());
    options.event_count = text.empty() ? 1 : 2;
    if (text.empty()) return parse_number(first, options.events[0]);
    text.remove_prefix(1);
    return parse_number(first, options.events[0]) && parse_number(text, options.events[1]);
}

bool parse_word(std::string_view key, std::string_view value, Options& options) {
    using nopscope::Mode;
    using nopscope::Recorder;
    if (key == "baud") return parse_number(value, options.baud);
    if (key == "pumps") return parse_number(value, options.pumps) && options.pumps <= 100'000;
    if (key == "rounds") return parse_number(value, options.rounds);
    if (key == "interrupts")
        return parse_number(value, options.interrupts) && options.interrupts <= 1;
    if (key == "samples") return parse_number(value, options.samples) && options.samples <= 100'000;
    if (key == "events") return parse_events(value, options);
    if (key == "cores") return parse_number(value, options.cores);
    if (key == "every") return parse_number(value, options.every) && options.every != 0;
    if (key == "recorder") {
        if (value == "graph") return options.recorder = Recorder::graph, true;
        if (value == "function") return options.recorder = Recorder::function, true;
        if (value == "profile") return options.recorder = Recorder::profile, true;
        if (value == "none") return options.recorder = Recorder::none, true;
        return false;
    }
    if (key == "mode") {
        if (value == "lossless") return options.mode = Mode::lossless, true;
        if (value == "stream") return options.mode = Mode::stream, true;
        if (value == "flight") return options.mode = Mode::flight, true;
        if (value == "adaptive") return options.mode = Mode::adaptive, true;
        return false;
    }
    if (key == "rtt") {
        if (value == "no") return options.rtt = Rtt::no, true;
        if (value == "both") return options.rtt = Rtt::both, true;
        if (value == "only") return options.rtt = Rtt::only, true;
        return false;
    }
    return true;
}

}  // namespace

bool parse_options(const char* command_line, std::uint32_t baud, Options& options) {
    options.baud = baud;
    std::string_view rest = command_line;
    while (!rest.empty()) {
        const auto word = rest.substr(0, rest.find(' '));
        rest.remove_prefix(std::min(word.size() + 1, rest.size()));
        const auto equals = word.find('=');
        if (equals == word.npos) continue;
        const std::string_view value{word.data() + equals + 1, word.size() - equals - 1};
        if (!parse_word(word.substr(0, equals), value, options)) return false;
    }
    return true;
}
