// SPDX-License-Identifier: Apache-2.0
#include "host-tools/command/verbs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <span>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/image/arch/arch.hpp"
#include "host-tools/image/arch/pmu_events.hpp"
#include "host-tools/line/stream/same_image.hpp"
#include "tracer/protocol/recorders.hpp"

namespace nopscope::host {
namespace {

using protocol::Command;
using Words = std::vector<std::string>;
using Bytes = CommandClient::Bytes;

[[noreturn]] void refuse(const std::string& sentence) { throw Error(sentence, Exit::usage); }

std::uint64_t number(std::string_view text, std::uint64_t most) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value > most) {
        refuse(fmt::format("{}: expected a number, at most {}", for_cell(text), most));
    }
    return value;
}
std::uint64_t number_of(const Words& words, Command what) {
    return number(words[1], protocol::most_argument(what));
}

// "10ms" -> seconds.
double seconds(std::string_view text) {
    const std::map<std::string_view, double> units{
        {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"", 1}};
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const auto unit = units.find(text.substr(static_cast<std::size_t>(end - text.data())));
    if (error != std::errc() || unit == units.end() || !(value >= 0 && value < 1e6)) {
        refuse(fmt::format("{}: expected a time, as 500ns, 10us, 1.5ms or 2s", for_cell(text)));
    }
    return value * unit->second;
}

std::uint64_t one_in(std::string_view text) {
    if (text.starts_with("1/")) text.remove_prefix(2);
    const std::uint64_t value = number(text, protocol::most_argument(Command::set_sample));
    if (value == 0) refuse("expected 1/N, N from 1");
    return value;
}

// The number of a recorder or a mode: its place in the table.
std::uint8_t number_in(std::span<const char* const> names, const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<std::uint8_t>(found - names.begin());
    refuse(fmt::format("{}: expected one of {}", for_cell(name), fmt::join(names, ", ")));
}

Bytes varint(std::uint64_t value) {
    protocol::Byte bytes[protocol::max_varint_bytes];
    protocol::Writer out(bytes);
    out.varint(value);
    return {bytes, bytes + out.size()};
}

const Symbols& given(const Symbols* symbols) {
    if (symbols == nullptr)
        refuse("names are resolved here: give --image ELF (with --via, to the recorder)");
    return *symbols;
}
const Symbols& symbols_of(const TargetSide& target) {
    given(target.symbols);
    if (const auto sentence = mismatch(*target.symbols, target.hello)) throw Error(*sentence);
    return *target.symbols;
}

// Returns how many sites are selected.
std::uint64_t select(CommandClient& client, const std::vector<bool>& chosen) {
    client.request(Command::select_clear);
    std::uint64_t selected = 0;
    for (const Bytes& ranges : range_payloads(chosen)) {
        const Bytes result = client.request(Command::select_add, ranges);
        selected = protocol::Reader(result.data(), result.size()).varint();
    }
    const auto wanted = static_cast<std::uint64_t>(std::count(chosen.begin(), chosen.end(), true));
    if (selected != wanted) {
        throw Error(
            fmt::format("the target has selected {} functions where {} were asked for: is "
                        "another host sending it commands?",
                        selected, wanted));
    }
    return selected;
}

std::string functions(std::uint64_t count) {
    return fmt::format("{} function{}", count, count == 1 ? "" : "s");
}

// `first`: index of the first word that is a glob.
Choice with_globs(const ControlRequest& request, long first = 1) {
    Choice choice = request.choice;
    choice.filter.insert(choice.filter.end(), request.words.begin() + first, request.words.end());
    return choice;
}

// Sends a command for the functions that the request names. Returns their number.
std::uint64_t apply(const ControlRequest& request, const TargetSide& target, Command what,
                    Bytes head, long first = 1) {
    const std::uint64_t selected =
        select(target.client, choose(symbols_of(target), with_globs(request, first)));
    const Bytes count = varint(selected);
    head.insert(head.end(), count.begin(), count.end());
    target.client.request(what, head);
    return selected;
}

std::string trace(const ControlRequest& request, const TargetSide& target) {
    const bool none = request.words[0] == "untrace";
    const std::uint8_t recorder = none ? static_cast<std::uint8_t>(protocol::Recorder::none)
                                  : request.recorder.empty()
                                      ? protocol::recorder_as_before
                                      : number_in(protocol::recorder_names, request.recorder);
    const std::uint8_t flags = request.also || none ? 0 : protocol::only_selected;
    const std::uint64_t selected = apply(request, target, Command::set_recorder, {recorder, flags});
    return fmt::format("{} {}{}", none ? "no longer tracing" : "tracing", functions(selected),
                       request.also ? " more" : "");
}

std::string only(const ControlRequest& request, const TargetSide& target) {
    if (request.words.size() == 1) {
        target.client.request(Command::set_subtree, Bytes{0, 0});
        return "recording all that is traced";
    }
    const std::uint64_t selected = apply(request, target, Command::set_subtree, {1});
    return fmt::format("recording only {} and below", functions(selected));
}

protocol::TargetReport target_report(CommandClient& client) {
    const Bytes result = client.request(Command::stats);
    protocol::Reader in(result.data(), result.size());
    protocol::TargetReport report;
    for (const auto field : protocol::report_fields) report.*field = in.varint();
    if (!in.ok()) throw Error("the target's answer to `stats` cannot be read");
    return report;
}
std::string stats(const ControlRequest&, const TargetSide& target) {
    const protocol::TargetReport report = target_report(target.client);
    return fmt::format(
        "{}; {} functions traced, {} selected; generated {}, dropped {}, shadow_stack_full {}, "
        "off_stack {}; commands refused {}",
        report.recording != 0 ? "recording" : "stopped", report.enabled, report.selected,
        report.generated, report.dropped, report.shadow_stack_full, report.off_stack,
        report.refused);
}

std::string baud(const ControlRequest& request, const TargetSide& target) {
    const auto wanted = static_cast<std::uint32_t>(number_of(request.words, Command::set_baud));
    target.client.set_baud(wanted);
    return fmt::format("the line runs at {} baud", wanted);
}

// For a check, before a hello came, the clock's rate is 0, and each time is 0 ticks.
std::uint64_t ticks_of(const Words& words, const HelloInfo& hello) {
    const double wanted = seconds(words[1]) * static_cast<double>(hello.clock_hz);
    const std::uint64_t most = protocol::most_argument(Command::set_min_duration);
    if (wanted <= static_cast<double>(most))
        return static_cast<std::uint64_t>(std::llround(wanted));
    refuse(fmt::format("{} are more than {} ticks of the target's clock", words[1], most));
}
std::string min_duration(const ControlRequest& request, const TargetSide& target) {
    const std::uint64_t ticks = ticks_of(request.words, target.hello);
    target.client.request(Command::set_min_duration, varint(ticks));
    return fmt::format("recording calls of {} ticks and more", ticks);
}

std::string reset(const ControlRequest&, const TargetSide& target) {
    target.client.request(Command::reset);
    target.client.wait_for_other_session();
    return fmt::format("the target has been reset: session {}", target.hello.session);
}

using Archs = std::span<const Arch* const>;

// Which argument is in a register of this name, in one of these architectures. Or its number.
std::uint64_t argument_number(std::string_view word, Archs archs) {
    if (word.find_first_not_of("0123456789") == word.npos && !word.empty()) return number(word, 7);
    std::vector<std::string> names;
    for (const Arch* const arch : archs) {
        const auto& own = arch->arguments;
        const auto found = std::find(own.begin(), own.end(), word);
        if (found != own.end()) return static_cast<std::uint64_t>(found - own.begin());
        names.push_back(fmt::format("{} to {} ({})", own.front(), own.back(), arch->name));
    }
    refuse(
        fmt::format("{}: expected {}, result, or none", for_cell(word), fmt::join(names, " or ")));
}
// "0,1,result": the first two arguments at the entry, the result at the return.
std::pair<std::uint8_t, std::uint8_t> captured(std::string_view text, Archs archs) {
    std::uint8_t mask = 0, result = 0;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(','));
        text.remove_prefix(std::min(word.size() + 1, text.size()));
        if (word == "result") {
            result = 1;
        } else if (word != "none") {
            mask = static_cast<std::uint8_t>(mask | 1u << argument_number(word, archs));
        }
    }
    return {mask, result};
}
std::string capture(const ControlRequest& request, const TargetSide& target) {
    const Arch* const arch = &arch_of(target.hello.architecture);
    const auto [mask, result] = captured(request.words[1], {&arch, 1});
    const std::uint64_t selected = apply(request, target, Command::set_capture, {mask, result}, 2);
    return fmt::format("capturing {} of {}", request.words[1], functions(selected));
}

// "none", or events' names or numbers -> set_events' arguments.
Bytes events_of(const Words& words) {
    Bytes arguments(1);
    for (auto word = words.begin() + 1; word != words.end(); ++word) {
        if (*word == "none" && words.size() == 2) break;
        const auto event = event_number(*word);
        if (!event) {
            refuse(fmt::format("{}: no such event: give a number, as 0x11, or one of {}",
                               for_cell(*word), fmt::join(event_words(), ", ")));
        }
        const auto same = std::find_if(words.begin() + 1, word, [&](const std::string& other) {
            return event_number(other) == event;
        });
        if (same != word) {
            refuse(fmt::format("{} and {} are the same event: name it once", for_cell(*same),
                               for_cell(*word)));
        }
        arguments.push_back(static_cast<std::uint8_t>(*event));
        arguments.push_back(static_cast<std::uint8_t>(*event >> 8));
        ++arguments[0];
    }
    if (arguments[0] > protocol::max_events) {
        refuse(fmt::format("at most {} events are counted at a time", protocol::max_events));
    }
    return arguments;
}
std::string events(const ControlRequest& request, const TargetSide& target) {
    const Bytes arguments = events_of(request.words);
    target.client.request(Command::set_events, arguments);
    return arguments[0] == 0 ? "counting no events"
                             : fmt::format("counting {}", fmt::join(request.words.begin() + 1,
                                                                    request.words.end(), " and "));
}

// The bytes that a command sends of its words, or that a check drops.
Bytes id_of(const Words& words) {
    return varint(words.size() > 1 ? number_of(words, Command::mark) : 0);
}
Bytes mode_of(const Words& words) { return {number_in(protocol::mode_names, words[1])}; }
Bytes depth_of(const Words& words) { return varint(number_of(words, Command::set_depth)); }
Bytes sample_of(const Words& words) { return varint(one_in(words[1])); }
Bytes time_of(const Words& words) { return varint(ticks_of(words, {})); }
Bytes rate_of(const Words& words) {
    const std::uint64_t rate = number_of(words, Command::set_baud);
    if (rate == 0) refuse("baud 0 is no rate");
    return varint(rate);
}
Bytes captured_of(const Words& words) {
    const auto [mask, result] = captured(words[1], all_archs());
    return {mask, result};
}

constexpr std::size_t any = ~std::size_t{0};
constexpr Argument id{.text = "[ID]", .most = 1, .bytes = id_of};
constexpr Argument some_globs{.text = "GLOB...", .least = 1, .most = any};
constexpr Argument globs{.text = "[GLOB...]", .most = any};
constexpr Argument captured_globs{
    .text = "WHAT GLOB...", .least = 2, .most = any, .bytes = captured_of};
constexpr Argument event_list{
    .text = "EVENT...", .least = 1, .most = any, .values = event_words, .bytes = events_of};
constexpr Argument mode_name{.text = "MODE",
                             .least = 1,
                             .most = 1,
                             .values = mode_names,
                             .has_other_values = false,
                             .bytes = mode_of};
constexpr Argument calls{.text = "CALLS", .least = 1, .most = 1, .bytes = depth_of};
constexpr Argument time{.text = "TIME", .least = 1, .most = 1, .bytes = time_of};
constexpr Argument ratio{.text = "RATIO", .least = 1, .most = 1, .bytes = sample_of};
constexpr Argument rate{.text = "RATE", .least = 1, .most = 1, .bytes = rate_of};

constexpr Verb table[] = {
    {.name = "baud",
     .help = "Run the line at this rate, both sides",
     .argument = rate,
     .perform = baud,
     .is_option = true},
    {.name = "trace",
     .help = "Trace functions of these names, * and ? in them, and no others",
     .more_help = "; without a name: all",
     .argument = globs,
     .perform = trace,
     .filters = true,
     .chooses = true,
     .has_recorder = true,
     .is_option = true,
     .key = 'f',
     .is_on_page = true},
    {.name = "untrace",
     .help = "No longer trace these functions",
     .argument = some_globs,
     .perform = trace,
     .filters = true,
     .chooses = true,
     .key = 'u'},
    {.name = "only",
     .help = "Record only these functions and what they call",
     .more_help = "; without a name: all that is traced",
     .argument = globs,
     .perform = only,
     .filters = true,
     .chooses = true,
     .is_option = true},
    {.name = "capture",
     .help = "Record arguments and result of these functions; WHAT: as x0,x1,result or a0, or none",
     .argument = captured_globs,
     .perform = capture,
     .chooses = true},
    {.name = "events",
     .help =
         "Count these events of the PMU in each call, by name (`nopscope events`) or number; two "
         "at most",
     .more_help = "; none: no longer",
     .argument = event_list,
     .perform = events,
     .is_option = true},
    {.name = "depth",
     .help = "Record only so many calls deep; 0: all",
     .argument = calls,
     .command = Command::set_depth,
     .filters = true,
     .is_option = true},
    {.name = "min-duration",
     .help = "Record only calls that take so long: 10us, 1ms",
     .argument = time,
     .perform = min_duration,
     .filters = true,
     .is_option = true,
     .recorder = protocol::Recorder::duration},
    {.name = "sample",
     .help = "Record one call in so many: 1/N",
     .argument = ratio,
     .command = Command::set_sample,
     .filters = true,
     .is_option = true,
     .recorder = protocol::Recorder::sampled},
    {.name = "mode",
     .help = "How the target treats what the line cannot carry",
     .argument = mode_name,
     .command = Command::set_mode,
     .is_option = true,
     .key = 'M',
     .is_on_page = true},
    {.name = "start", .help = "Record again", .command = Command::start, .is_on_page = true},
    {.name = "stop", .help = "Stop recording", .command = Command::stop, .is_on_page = true},
    {.name = "mark",
     .help = "Put a mark into the recording",
     .argument = id,
     .command = Command::mark,
     .key = 'm',
     .is_numbered = true,
     .is_on_page = true},
    {.name = "snapshot",
     .help = "Send what flight mode has kept",
     .argument = id,
     .command = Command::snapshot,
     .key = 'S',
     .is_on_page = true},
    {.name = "send-profile", .help = "Send the profile now", .command = Command::send_profile},
    {.name = "zero",
     .help = "Count from now on: sets the figures of `top` and `serve` to zero",
     .key = 'z',
     .is_on_page = true},
    {.name = "stats", .help = "Say what is recorded, and the counters", .perform = stats},
    {.name = "hello",
     .help = "Send a hello now, as at the beginning of a session",
     .command = Command::hello},
    {.name = "reset", .help = "Reset the target", .perform = reset},
};

const Verb& verb_of(const ControlRequest& request) {
    const std::string name = request.words.empty() ? "" : request.words[0];
    for (const Verb& verb : table) {
        if (name != verb.name) continue;
        const std::size_t given = request.words.size() - 1;
        const auto [least, most] = std::pair(verb.argument.least, verb.argument.most);
        if (given >= least && given <= most) return verb;
        const std::size_t limit = given < least ? least : most;
        refuse(fmt::format("{} takes at {} {} argument{}, and {} came", name,
                           given < least ? "least" : "most", limit, limit == 1 ? "" : "s", given));
    }
    const Words names = verb_names();
    const std::string near = did_you_mean(name, names);
    refuse(
        fmt::format("there is no request {}{}", for_cell(name),
                    near.empty() ? fmt::format(": there are {}", fmt::join(names, ", ")) : near));
}

void check_options(const Verb& verb, const ControlRequest& request) {
    const auto refuse_option = [&](const char* option) {
        refuse(fmt::format("{} does not use {}: leave it out", verb.name, option));
    };
    const bool takes_choice = verb.chooses && request.words != Words{"only"};
    if (!takes_choice && !request.choice.filter.empty()) refuse_option("a filter");
    if (!takes_choice && !request.choice.notrace.empty()) refuse_option("--notrace");
    if (!takes_choice && request.choice.size_above) refuse_option("--size-above");
    if (!verb.has_recorder && !request.recorder.empty()) refuse_option("--recorder");
    if (!verb.has_recorder && request.also) refuse_option("--also");
}

}  // namespace

std::span<const Verb> verbs() { return table; }

std::vector<std::string> verb_names() {
    std::vector<std::string> names;
    for (const Verb& verb : table) names.emplace_back(verb.name);
    return names;
}
std::vector<std::string> mode_names() {
    return {std::begin(protocol::mode_names), std::end(protocol::mode_names)};
}
std::vector<std::string> recorder_names() {
    return {std::begin(protocol::recorder_names), std::end(protocol::recorder_names)};
}

void check(const ControlRequest& request) {
    const Verb& verb = verb_of(request);
    check_options(verb, request);
    if (verb.argument.bytes != nullptr) verb.argument.bytes(request.words);
    if (!request.recorder.empty()) number_in(protocol::recorder_names, request.recorder);
}

void check_names(const ControlRequest& request, const Symbols* symbols) {
    const Verb& verb = verb_of(request);
    if (!verb.chooses || request.words == Words{"only"}) return;
    choose(given(symbols),
           with_globs(request, static_cast<long>(std::max<std::size_t>(verb.argument.least, 1))));
}

bool needs_target(const ControlRequest& request) { return verb_of(request).is_for_target(); }

std::string perform_here(const ControlRequest& request, Figures* figures) {
    if (figures == nullptr) {
        refuse(
            fmt::format("{} is for a running `top` or `serve`: start it with --control "
                        "unix:PATH, and name it here, --via unix:PATH",
                        request.words[0]));
    }
    figures->zero(request.words[0], std::nullopt);
    return "the figures begin again";
}

Performed perform(const ControlRequest& request, const TargetSide& target) {
    const Verb& verb = verb_of(request);
    if (!verb.is_for_target()) return {.text = perform_here(request, target.figures)};
    target.client.wait_for_target();
    (void)target.client.take_late();
    Performed done{.text = "ok"};
    if (verb.command) {
        const auto bytes = verb.argument.bytes;
        target.client.request(*verb.command, bytes != nullptr ? bytes(request.words) : Bytes());
    } else {
        done.text = verb.perform(request, target);
    }
    // The ring may still have records of before, so the target says what time it is.
    if (verb.filters && target.figures != nullptr) {
        target.figures->zero(fmt::format("{}", fmt::join(request.words, " ")),
                             target_report(target.client).now);
    }
    done.late = target.client.take_late();
    if (done.late)
        done.text += "; a core of the target stayed in the tracer's code for a second meanwhile";
    return done;
}

}  // namespace nopscope::host
