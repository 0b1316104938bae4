// SPDX-License-Identifier: Apache-2.0
#include "host-tools/target/control/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "host-tools/base/error.hpp"
#include "host-tools/base/nearest.hpp"
#include "host-tools/base/pmu_events.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/target/stream/same_image.hpp"

namespace nopscope::host {
namespace {

using wire::Command;
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
std::uint64_t number_or_0(const Words& words, Command what) {
    return words.size() > 1 ? number(words[1], wire::most_argument(what)) : 0;
}
std::uint64_t number_of(const Words& words, Command what) {
    return number(words[1], wire::most_argument(what));
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
    const std::uint64_t value = number(text, wire::most_argument(Command::set_sample));
    if (value == 0) refuse("expected 1/N, N from 1");
    return value;
}

std::uint8_t choice_of(const std::map<std::string, std::uint8_t>& names, const std::string& name) {
    if (const auto found = names.find(name); found != names.end()) return found->second;
    std::string all;
    for (const auto& [known, value] : names) all += (all.empty() ? "" : ", ") + known;
    refuse(fmt::format("{}: expected one of {}", for_cell(name), all));
}
const std::map<std::string, std::uint8_t> recorders{
    {"none", 0}, {"function", 1}, {"graph", 2}, {"profile", 3}, {"duration", 4}, {"sampled", 5}};
const std::map<std::string, std::uint8_t> modes{
    {"stream", 0}, {"lossless", 1}, {"flight", 2}, {"adaptive", 3}};

Words names_of(const std::map<std::string, std::uint8_t>& names) {
    Words words;
    for (const auto& [name, value] : names) words.push_back(name);
    return words;
}

Bytes varint(std::uint64_t value) {
    wire::Byte bytes[wire::max_varint_bytes];
    wire::Writer out(bytes);
    out.varint(value);
    return {bytes, bytes + out.size()};
}

const Symbols& given(const Symbols* symbols) {
    if (symbols == nullptr) refuse("names are resolved here: give --image ELF (with --via, to the recorder)");
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
        selected = wire::Reader(result.data(), result.size()).varint();
    }
    const auto wanted = static_cast<std::uint64_t>(std::count(chosen.begin(), chosen.end(), true));
    if (selected != wanted) {
        throw Error(fmt::format("the target has selected {} functions where {} were asked for: is "
                                "another host sending it commands?", selected, wanted));
    }
    return selected;
}

// `trace` and `untrace`, and what else is about a selection: head bytes, then how many.
void apply(CommandClient& client, Command what, Bytes head, std::uint64_t selected) {
    const Bytes count = varint(selected);
    head.insert(head.end(), count.begin(), count.end());
    client.request(what, head);
}

// `first`: the word with the first glob.
Choice with_globs(const ControlRequest& request, long first = 1) {
    Choice choice = request.choice;
    choice.filter.insert(choice.filter.end(), request.words.begin() + first, request.words.end());
    return choice;
}

std::string trace(const ControlRequest& request, const TargetSide& target) {
    const bool none = request.words[0] == "untrace";
    const std::uint64_t selected =
        select(target.client, choose(symbols_of(target), with_globs(request)));
    const std::uint8_t recorder = none                      ? recorders.at("none")
                                  : request.recorder.empty() ? wire::recorder_as_before
                                                             : choice_of(recorders, request.recorder);
    const std::uint8_t flags = request.also || none ? 0 : wire::only_selected;
    apply(target.client, Command::set_recorder, {recorder, flags}, selected);
    return fmt::format("{} {} function{}{}", none ? "no longer tracing" : "tracing", selected,
                       selected == 1 ? "" : "s", request.also ? " more" : "");
}

std::string only(const ControlRequest& request, const TargetSide& target) {
    if (request.words.size() == 1) {
        apply(target.client, Command::set_subtree, {0}, 0);
        return "recording all that is traced";
    }
    const std::uint64_t selected =
        select(target.client, choose(symbols_of(target), with_globs(request)));
    apply(target.client, Command::set_subtree, {1}, selected);
    return fmt::format("recording only {} function{} and below", selected, selected == 1 ? "" : "s");
}

std::string stats(const ControlRequest&, const TargetSide& target) {
    const Bytes result = target.client.request(Command::stats);
    wire::Reader in(result.data(), result.size());
    wire::TargetReport report;
    for (const auto field : wire::report_fields) report.*field = in.varint();
    if (!in.ok()) throw Error("the target's answer to `stats` cannot be read");
    return fmt::format("{}; {} functions traced, {} selected; generated {}, dropped {}, unhooked {}, "
                       "foreign {}; commands refused {}",
                       report.recording != 0 ? "recording" : "stopped", report.enabled,
                       report.selected, report.generated, report.dropped, report.unhooked,
                       report.foreign, report.refused);
}

std::string baud(const ControlRequest& request, const TargetSide& target) {
    const auto wanted = static_cast<std::uint32_t>(number_of(request.words, Command::set_baud));
    target.client.set_baud(wanted);
    return fmt::format("the line runs at {} baud", wanted);
}

// A command whose one argument, if any, is a number.
template <Command what>
std::string plain(const ControlRequest&, const TargetSide& target) {
    target.client.request(what);
    return "ok";
}
template <Command what>
std::string with_id(const ControlRequest& request, const TargetSide& target) {
    target.client.request(what, varint(number_or_0(request.words, what)));
    return "ok";
}
std::string mode(const ControlRequest& request, const TargetSide& target) {
    target.client.request(Command::set_mode, Bytes{choice_of(modes, request.words[1])});
    return "ok";
}
std::string depth(const ControlRequest& request, const TargetSide& target) {
    target.client.request(Command::set_depth, varint(number_of(request.words, Command::set_depth)));
    return "ok";
}
std::string sample(const ControlRequest& request, const TargetSide& target) {
    target.client.request(Command::set_sample, varint(one_in(request.words[1])));
    return "ok";
}
std::string min_duration(const ControlRequest& request, const TargetSide& target) {
    const double wanted = seconds(request.words[1]) * static_cast<double>(target.hello.clock_hz);
    const std::uint64_t most = wire::most_argument(Command::set_min_duration);
    if (!(wanted <= static_cast<double>(most))) {
        refuse(fmt::format("{} are more than {} ticks of the target's clock", request.words[1], most));
    }
    const auto ticks = static_cast<std::uint64_t>(std::llround(wanted));
    target.client.request(Command::set_min_duration, varint(ticks));
    return fmt::format("recording calls of {} ticks and more", ticks);
}

std::string reset(const ControlRequest&, const TargetSide& target) {
    target.client.request(Command::reset);
    target.client.wait_for_other_session();
    return fmt::format("the target has been reset: session {}", target.hello.session);
}

// "0,1,result": x0 and x1 at the entry, x0 at the return.
std::pair<std::uint8_t, std::uint8_t> captured(std::string_view text) {
    std::uint8_t mask = 0, result = 0;
    while (!text.empty()) {
        std::string_view word = text.substr(0, text.find(','));
        text.remove_prefix(std::min(word.size() + 1, text.size()));
        if (word == "result") {
            result = 1;
        } else if (word != "none") {
            if (word.starts_with('x')) word.remove_prefix(1);
            mask = static_cast<std::uint8_t>(mask | 1u << number(word, 7));
        }
    }
    return {mask, result};
}
std::string capture(const ControlRequest& request, const TargetSide& target) {
    const auto [mask, result] = captured(request.words[1]);
    const std::uint64_t selected = select(target.client, choose(symbols_of(target), with_globs(request, 2)));
    apply(target.client, Command::set_capture, {mask, result}, selected);
    return fmt::format("capturing {} of {} function{}", request.words[1], selected,
                       selected == 1 ? "" : "s");
}

// "none", or events' names or numbers -> set_events' arguments.
Bytes events_of(const Words& words) {
    Bytes arguments(1);
    for (auto word = words.begin() + 1; word != words.end(); ++word) {
        if (*word == "none" && words.size() == 2) break;
        const auto event = event_number(*word);
        if (!event) {
            refuse(fmt::format("{}: no such event: give a number, as 0x11, or one of {}", for_cell(*word),
                               event_names()));
        }
        const auto same = std::find_if(words.begin() + 1, word, [&](const std::string& other) {
            return event_number(other) == event;
        });
        if (same != word) {
            refuse(fmt::format("{} and {} are the same event: name it once", for_cell(*same), for_cell(*word)));
        }
        arguments.push_back(static_cast<std::uint8_t>(*event));
        arguments.push_back(static_cast<std::uint8_t>(*event >> 8));
        ++arguments[0];
    }
    if (arguments[0] > wire::max_events) {
        refuse(fmt::format("at most {} events are counted at a time", wire::max_events));
    }
    return arguments;
}
std::string events(const ControlRequest& request, const TargetSide& target) {
    const Bytes arguments = events_of(request.words);
    target.client.request(Command::set_events, arguments);
    if (arguments[0] == 0) return "counting no events";
    std::string said = "counting";
    for (std::size_t n = 1; n < request.words.size(); ++n) said += (n == 1 ? " " : " and ") + request.words[n];
    return said;
}

// What a verb takes besides its arguments.
enum class Takes : std::uint8_t { nothing, choice, choice_and_recorder };
struct Verb {
    const char* name;
    std::size_t least, most;  // arguments
    Takes takes;
    std::string (*perform)(const ControlRequest&, const TargetSide&);
};
constexpr std::size_t any = ~std::size_t{0};
constexpr Verb verbs[] = {
    {"hello", 0, 0, Takes::nothing, plain<Command::hello>},
    {"stats", 0, 0, Takes::nothing, stats},
    {"start", 0, 0, Takes::nothing, plain<Command::start>},
    {"stop", 0, 0, Takes::nothing, plain<Command::stop>},
    {"mark", 0, 1, Takes::nothing, with_id<Command::mark>},
    {"snapshot", 0, 1, Takes::nothing, with_id<Command::snapshot>},
    {"send-profile", 0, 0, Takes::nothing, plain<Command::send_profile>},
    {"trace", 0, any, Takes::choice_and_recorder, trace},
    {"untrace", 1, any, Takes::choice, trace},
    {"only", 0, any, Takes::choice, only},
    {"capture", 2, any, Takes::choice, capture},
    {"events", 1, any, Takes::nothing, events},
    {"mode", 1, 1, Takes::nothing, mode},
    {"depth", 1, 1, Takes::nothing, depth},
    {"min-duration", 1, 1, Takes::nothing, min_duration},
    {"sample", 1, 1, Takes::nothing, sample},
    {"baud", 1, 1, Takes::nothing, baud},
    {"reset", 0, 0, Takes::nothing, reset},
};

const Verb& verb_of(const ControlRequest& request) {
    const std::string name = request.words.empty() ? "" : request.words[0];
    for (const Verb& verb : verbs) {
        if (name != verb.name) continue;
        const std::size_t given = request.words.size() - 1;
        if (given >= verb.least && given <= verb.most) return verb;
        const std::size_t limit = given < verb.least ? verb.least : verb.most;
        refuse(fmt::format("{} takes at {} {} argument{}, and {} came", name, given < verb.least ? "least" : "most", limit,
                           limit == 1 ? "" : "s", given));
    }
    const std::string near = did_you_mean(name, verb_names());
    refuse(fmt::format("there is no request {}{}", for_cell(name), near.empty() ? std::string(": there are ") + control_verbs() : near));
}

void check_options(const Verb& verb, const ControlRequest& request) {
    const auto refuse_option = [&](const char* option) {
        refuse(fmt::format("{} does not use {}: leave it out", verb.name, option));
    };
    const bool takes_choice = verb.takes != Takes::nothing && request.words != Words{"only"};
    if (!takes_choice && !request.choice.filter.empty()) refuse_option("a filter");
    if (!takes_choice && !request.choice.notrace.empty()) refuse_option("--notrace");
    if (!takes_choice && request.choice.size_above) refuse_option("--size-above");
    if (verb.takes != Takes::choice_and_recorder && !request.recorder.empty()) refuse_option("--recorder");
    if (verb.takes != Takes::choice_and_recorder && request.also) refuse_option("--also");
}

}  // namespace

const char* control_verbs() {
    return "hello, stats, start, stop, mark [ID], snapshot [ID], send-profile, trace GLOB..., untrace "
           "GLOB..., only [GLOB...], capture x0,x1,result|none GLOB..., events NAME [NAME]|none, "
           "mode MODE, depth N, min-duration TIME, sample 1/N, baud N, reset";
}

std::vector<std::string> verb_names() {
    std::vector<std::string> names;
    for (const Verb& verb : verbs) names.emplace_back(verb.name);
    return names;
}
std::vector<std::string> verb_values(std::string_view verb) {
    return verb == "mode" ? mode_names() : verb == "events" ? event_words() : Words();
}
std::vector<std::string> mode_names() { return names_of(modes); }
std::vector<std::string> recorder_names() { return names_of(recorders); }

void check(const ControlRequest& request) {
    const Verb& verb = verb_of(request);
    check_options(verb, request);
    const std::string name = verb.name;
    if (name == "mark" || name == "snapshot") number_or_0(request.words, Command::mark);
    if (name == "capture") captured(request.words[1]);
    if (name == "events") events_of(request.words);
    if (name == "baud" && number_of(request.words, Command::set_baud) == 0) refuse("baud 0 is no rate");
    if (name == "depth") number_of(request.words, Command::set_depth);
    if (name == "min-duration") seconds(request.words[1]);
    if (name == "sample") one_in(request.words[1]);
    if (name == "mode") choice_of(modes, request.words[1]);
    if (!request.recorder.empty()) choice_of(recorders, request.recorder);
}

void check_names(const ControlRequest& request, const Symbols* symbols) {
    const Verb& verb = verb_of(request);
    if (verb.takes == Takes::nothing || request.words == Words{"only"}) return;
    choose(given(symbols), with_globs(request, static_cast<long>(verb.least > 1 ? verb.least : 1)));
}

Performed perform(const ControlRequest& request, const TargetSide& target) {
    const Verb& verb = verb_of(request);
    target.client.wait_for_target();
    (void)target.client.take_late();
    Performed done{.text = verb.perform(request, target)};
    done.late = target.client.take_late();
    if (done.late) done.text += "; a core of the target stayed in the tracer's code for a second meanwhile";
    return done;
}

std::string to_json(const ControlRequest& request) {
    nlohmann::json json{{"words", request.words},
                        {"notrace", request.choice.notrace},
                        {"recorder", request.recorder},
                        {"also", request.also}};
    if (request.choice.size_above) json["size_above"] = *request.choice.size_above;
    return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

ControlRequest control_request(std::string_view text) {
    ControlRequest request;
    try {
        const nlohmann::json json = nlohmann::json::parse(text);
        request.words = json.at("words").get<Words>();
        request.choice.notrace = json.value("notrace", Words{});
        request.recorder = json.value("recorder", "");
        request.also = json.value("also", false);
        if (json.contains("size_above")) {
            request.choice.size_above = json.at("size_above").get<std::uint64_t>();
        }
    } catch (const nlohmann::json::exception&) {
        refuse("the request is no JSON object with `words`: see docs/control.md");
    }
    check(request);
    return request;
}

}  // namespace nopscope::host
