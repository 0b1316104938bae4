// SPDX-License-Identifier: Apache-2.0
#include "host-tools/cli/generated/completions.hpp"

#include "host-tools/cli/generated/commands_of.hpp"
#include "host-tools/cli/kinds.hpp"
#include "host-tools/command/verbs.hpp"
#include "host-tools/image/arch/pmu_events.hpp"

namespace nopscope::host {

Offer offer_of(const CLI::App& app, const CLI::Option& option) {
    using enum Offer::What;
    const std::string type = option.get_type_name();
    if (auto choices = choices_of(option); !choices.empty()) return {words, std::move(choices)};
    // CLI11 may append the option's check after a colon.
    const std::string is = type.substr(0, type.find(':'));
    if (is == kind::event) return {words, event_words()};
    if (is == kind::request) return {words, verb_names()};
    if (is == kind::command) return {words, command_names(app)};
    if (is == kind::recording) return {files, {}, ".nsc"};
    if (is == kind::elf) return {files, {}, ".elf"};
    if (is == kind::file) return {files};
    if (is == kind::directory) return {directories};
    if (is == kind::uri) return {uri};
    if (is == kind::board) return {boards};
    return {};
}

std::vector<Follower> followers(const CLI::App& command) {
    std::vector<Follower> found;
    for (const CLI::Option* const argument : arguments(command)) {
        if (argument->get_type_name() != kind::request) continue;
        for (const Verb& verb : verbs()) {
            const auto values = verb.argument.values;
            found.push_back({verb.name, values != nullptr ? values() : std::vector<std::string>()});
        }
    }
    return found;
}

std::vector<const CLI::Option*> named_options(const CLI::App& command) {
    auto options = shown_options(command);
    std::erase_if(options, [](const CLI::Option* one) { return one->get_positional(); });
    return options;
}

std::vector<const CLI::Option*> arguments(const CLI::App& command) {
    auto options = shown_options(command);
    std::erase_if(options, [](const CLI::Option* one) { return !one->get_positional(); });
    return options;
}

std::vector<std::string> names_of(const CLI::Option& option) {
    std::vector<std::string> names;
    for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option.get_snames()) names.push_back("-" + name);
    return names;
}

std::vector<std::string> uri_schemes() {
    return {"serial:", "tcp:", "unix:", "exec:", "file:", "gdb:"};
}
std::vector<std::string> uri_file_schemes() { return {"serial:", "unix:", "file:"}; }

std::string joined(const std::vector<std::string>& words, const char* between) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
    return out;
}

std::string with(std::string text, const std::string& mark, const std::string& value) {
    return text.replace(text.find(mark), mark.size(), value);
}

std::string in_quotes(std::string_view text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

}  // namespace nopscope::host
