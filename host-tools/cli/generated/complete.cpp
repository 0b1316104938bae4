// SPDX-License-Identifier: Apache-2.0
// Each shell asks `nopscope __complete WORDS` what to offer for the last of the words, and lets the
// user choose from that. The first line says what is offered: "words", "uri" (words that another
// part follows), "files" or "directories". The second one has the part of the last word before the
// value, as "--format=", and the third one the ending of files to offer first. Each further line is
// a word, which may have a tab and a description behind it.
#include <fmt/format.h>

#include <array>

#include "host-tools/cli/defaults.hpp"
#include "host-tools/cli/generated/commands_of.hpp"
#include "host-tools/cli/generated/reference.hpp"
#include "host-tools/cli/options.hpp"
#include "host-tools/command/verbs.hpp"
#include "host-tools/image/arch/pmu_events.hpp"

namespace nopscope::host {
namespace {

using Words = std::vector<std::string>;

struct Offer {
    const char* what = "words";
    Words words = {};
    const char* suffix = "";
};

constexpr std::array file_schemes{"serial:", "unix:", "file:"};  // a file's name follows

// What to offer for an option's value or for an argument.
Offer offer_of(const CLI::App& app, const CLI::Option& option) {
    const std::string type = option.get_type_name();
    if (type.starts_with('{'))
        return {.words = CLI::detail::split(type.substr(1, type.size() - 2), ',')};
    // CLI11 may append the option's check after a colon.
    const std::string is = type.substr(0, type.find(':'));
    if (is == kind::event) return {.words = event_words()};
    if (is == kind::request) return {.words = verb_names()};
    if (is == kind::command) return {.words = command_names(app)};
    if (is == kind::board) return {.words = boards_of(defaults_file())};
    if (is == kind::uri) return {"uri", {"serial:", "tcp:", "unix:", "exec:", "file:", "gdb:"}};
    if (is == kind::recording) return {"files", {}, ".nsc"};
    if (is == kind::elf) return {"files", {}, ".elf"};
    if (is == kind::file) return {"files"};
    if (is == kind::directory) return {"directories"};
    return {};
}

std::string described(const std::string& word, const std::string& description) {
    return word + "\t" + description;
}

Offer names_of_options(const CLI::App& app) {
    Offer offer;
    for (const CLI::Option* const option : shown_options(app)) {
        for (const std::string& name : option->get_lnames())
            offer.words.push_back(described("--" + name, option->get_description()));
        for (const std::string& name : option->get_snames())
            offer.words.push_back(described("-" + name, option->get_description()));
    }
    return offer;
}

// `before`: the command's arguments before this one.
Offer argument_of(const CLI::App& app, const CLI::App& command, const Words& before) {
    std::size_t number = 0;
    for (const CLI::Option* const option : shown_options(command)) {
        if (!option->get_positional()) continue;
        if (option->get_type_name() == kind::request && !before.empty()) {
            for (const Verb& verb : verbs()) {
                if (before.front() == verb.name && verb.argument.values != nullptr)
                    return {.words = verb.argument.values()};
            }
            return {};
        }
        if (is_repeated(*option) || number++ == before.size()) return offer_of(app, *option);
    }
    return {};
}

// bash splits words at ":" and "=" (COMP_WORDBREAKS).
Words joined(const Words& pieces) {
    Words words;
    bool is_open = false;
    for (const std::string& piece : pieces) {
        const bool is_break = piece == ":" || piece == "=";
        if (words.empty() || (!is_break && !is_open)) {
            words.push_back(piece);
        } else {
            words.back() += piece;
        }
        is_open = is_break;
    }
    return words;
}

}  // namespace

std::string completion(const CLI::App& app, const std::vector<std::string>& pieces) {
    Words words = joined(pieces), arguments;
    std::string word = words.empty() ? "" : words.back(), prefix;
    if (!words.empty()) words.pop_back();
    const CLI::App* command = nullptr;
    const CLI::Option* option = nullptr;  // it awaits its value
    const auto find_option = [&](const std::string& name) {
        const CLI::Option* const found =
            (command != nullptr ? *command : app).get_option_no_throw(name);
        return found != nullptr && takes_value(*found) ? found : nullptr;
    };
    for (const std::string& each : words) {
        if (option != nullptr) {
            option = nullptr;
        } else if (each.starts_with('-')) {
            option = find_option(each);
        } else if (command != nullptr) {
            arguments.push_back(each);
        } else if (command = find_command(app, each); command == nullptr) {
            return {};
        }
    }
    const std::size_t equals = word.find('=');
    if (option == nullptr && word.starts_with("--") && equals != word.npos) {
        option = find_option(word.substr(0, equals));
        prefix = word.substr(0, equals + 1);
        word.erase(0, equals + 1);
    }
    Offer offer;
    if (option != nullptr) {
        offer = offer_of(app, *option);
    } else if (word.starts_with('-')) {
        offer = names_of_options(command != nullptr ? *command : app);
    } else if (command != nullptr) {
        offer = argument_of(app, *command, arguments);
    } else {
        for (const CLI::App* const one : shown_commands(app))
            offer.words.push_back(described(one->get_name(), one->get_description()));
    }
    for (const char* const scheme : file_schemes) {
        if (std::string_view(offer.what) != "uri" || !word.starts_with(scheme)) continue;
        offer = {"files"};
        prefix += scheme;
    }
    return fmt::format("{}\n{}\n{}\n{}\n", offer.what, prefix, offer.suffix,
                       fmt::join(offer.words, "\n"));
}

// It offers what follows the last ":" or "=".
const char* const bash_completion = R"SH(# Written by nopscope.
_nopscope() {
    local word=${COMP_WORDS[COMP_CWORD]} what suffix offer
    mapfile -t offer < <(nopscope __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    what=${offer[0]-} suffix=${offer[2]-}
    offer=("${offer[@]:3}")
    [[ $word != [:=] ]] || word=
    COMPREPLY=()
    case $what in
    words | uri) [[ $what == words ]] || compopt -o nospace 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -W "${offer[*]%%$'\t'*}" -- "$word") ;;
    directories) compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    files) compopt -o filenames 2>/dev/null
        [[ -z $suffix ]] || mapfile -t COMPREPLY < <(compgen -f -X "!*$suffix" -- "$word"; compgen -d -- "$word")
        ((${#COMPREPLY[@]})) || mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    esac
}
complete -F _nopscope nopscope
)SH";

const char* const zsh_completion = R"SH(#compdef nopscope
# Written by nopscope.
_nopscope() {
    local -a offer found end
    local line
    offer=("${(@f)$(nopscope __complete "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
    [[ -z $offer[2] ]] || compset -P "${(b)offer[2]}"
    case $offer[1] in
    words | uri)
        for line in "${(@)offer[4,-1]}"; do
            [[ -z $line ]] || found+=("${${line%%$'\t'*}//:/\\:}${${(M)line%%$'\t'*}/$'\t'/:}")
        done
        [[ $offer[1] == words ]] || end=(-S '')
        _describe value found $end ;;
    directories) _files -/ ;;
    files) _files ${offer[3]:+-g "*$offer[3](-.)"} ;;
    esac
}
_nopscope "$@"
)SH";

const char* const fish_completion = R"SH(# Written by nopscope.
function __nopscope
    set -l offer (nopscope __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
    switch "$offer[1]"
        case words uri
            printf '%s\n' $offer[2]$offer[4..]
            return
    end
    set -l word (string sub -s (math 1 + (string length -- "$offer[2]")) -- (commandline -ct))
    set -l all
    switch "$offer[1]"
        case directories
            set all (__fish_complete_directories "$word")
        case files
            set all (__fish_complete_path "$word")
            set -l fit (string match -r -- '^[^\t]*(?:/|'(string escape --style=regex -- "$offer[3]")')(?:\t.*)?$' $all)
            if string match -qr -- (string escape --style=regex -- "$offer[3]")'(?:\t.*)?$' $fit
                set all $fit
            end
    end
    printf '%s\n' $offer[2]$all
end
complete -c nopscope -f -a '(__nopscope)'
)SH";

}  // namespace nopscope::host
