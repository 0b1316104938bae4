// SPDX-License-Identifier: Apache-2.0
// The script has a case for each option with a value and for each argument. The case sets what to
// offer, and the rest of the script offers it.
#include <fmt/format.h>

#include <iterator>

#include "host-tools/cli/generated/commands_of.hpp"
#include "host-tools/cli/generated/completions.hpp"
#include "host-tools/cli/generated/reference.hpp"

namespace nopscope::host {
namespace {

// Returns a value for the script's variable `offer`: "words a b", "files .nsc", "directories",
// "uri", "boards".
std::string bash_offer(const Offer& offer) {
    switch (offer.what) {
    case Offer::What::nothing: return "nothing";
    case Offer::What::words: return "words " + joined(offer.words);
    case Offer::What::files: return "files " + offer.suffix;
    case Offer::What::directories: return "directories";
    case Offer::What::uri: return "uri";
    case Offer::What::boards: return "boards";
    }
    return {};
}

// bash splits words at ":" and "=" (COMP_WORDBREAKS), so it sees a URI as several words.
constexpr char before_cases[] = R"SH(_nopscope() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= verb= at=0 offer= n skip=
    COMPREPLY=()
    if [[ $word == : || $before == : ]]; then
        n=$COMP_CWORD
        [[ $word == : ]] || ((n--))
        [[ $word != : ]] || word=
        case "${COMP_WORDS[n-1]}:" in
            @FILE_SCHEMES@) offer='files ' ;;
            *) offer=nothing ;;
        esac
        before=
    elif [[ $word == = ]]; then
        word=
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD-2]}
    fi
    # The command, and which of its arguments this is: options that take a value skip one word.
    for ((n = 1; n < COMP_CWORD; ++n)); do
        if [[ -n $skip ]]; then
            [[ ${COMP_WORDS[n]} == = ]] && continue
            skip=
            [[ ${COMP_WORDS[n+1]-} != : ]] || ((n += 2))
            continue
        fi
        case "$command ${COMP_WORDS[n]}" in
            ' --board' | @VALUED@) skip=1 ;;
            *' -'*) ;;
            *) if [[ -z $command ]]; then command=${COMP_WORDS[n]}
               else ((++at)); ((at > 1)) || verb=${COMP_WORDS[n]}; fi ;;
        esac
    done
    [[ -n $offer ]] || case "$command $before" in
)SH";

constexpr char after_cases[] = R"SH(    esac
    if [[ -z $offer && $word == -* ]]; then
        case $command in
@OPTIONS@        esac
    fi
    [[ -n $offer ]] || case "$command $((at + 1)) $verb" in
@ARGUMENTS@    esac
    local what=${offer%% *} of=${offer#* }
    case $what in
    words) mapfile -t COMPREPLY < <(compgen -W "$of" -- "$word") ;;
    boards) mapfile -t COMPREPLY < <(compgen -W "$(nopscope boards 2>/dev/null)" -- "$word") ;;
    directories) compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    uri) compopt -o nospace 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -W "@SCHEMES@" -- "$word") ;;
    files) compopt -o filenames 2>/dev/null
        [[ -z $of ]] || mapfile -t COMPREPLY < <(compgen -f -X "!*$of" -- "$word"; compgen -d -- "$word")
        ((${#COMPREPLY[@]})) || mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    esac
}
complete -F _nopscope nopscope
)SH";

std::string arguments_of(const CLI::App& app, const CLI::App& command) {
    std::string out;
    auto to = std::back_inserter(out);
    for (const Follower& one : followers(command)) {
        fmt::format_to(to, "        '{} '*' {}') offer={} ;;\n", command.get_name(), one.verb,
                       in_quotes(one.values.empty() ? "nothing" : "words " + joined(one.values)));
    }
    int at = 0;
    for (const CLI::Option* const argument : arguments(command)) {
        fmt::format_to(to, "        '{} '{}) offer={} ;;\n", command.get_name(),
                       is_repeated(*argument) ? "*" : fmt::format("'{} '*", ++at),
                       in_quotes(bash_offer(offer_of(app, *argument))));
    }
    return out;
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
    std::string cases, options, all_arguments;
    std::vector<std::string> valued;
    for (const CLI::App* const command : shown_commands(app)) {
        std::vector<std::string> names;
        for (const CLI::Option* const option : named_options(*command)) {
            for (const std::string& name : names_of(*option)) {
                names.push_back(name);
                if (!takes_value(*option)) continue;
                const std::string key = in_quotes(command->get_name() + " " + name);
                valued.push_back(key);
                fmt::format_to(std::back_inserter(cases), "        {}) offer={} ;;\n", key,
                               in_quotes(bash_offer(offer_of(app, *option))));
            }
        }
        fmt::format_to(std::back_inserter(options), "        {}) offer={} ;;\n",
                       command->get_name(), in_quotes("words " + joined(names)));
        all_arguments += arguments_of(app, *command);
    }
    std::vector<std::string> globals;
    for (const CLI::Option* const option : named_options(app)) {
        for (const std::string& name : names_of(*option)) globals.push_back(name);
    }
    fmt::format_to(std::back_inserter(cases), "        ' --board') offer=boards ;;\n");
    fmt::format_to(std::back_inserter(options), "        '') offer={} ;;\n",
                   in_quotes("words " + joined(globals)));
    fmt::format_to(std::back_inserter(all_arguments), "        ' '*) offer={} ;;\n",
                   in_quotes("words " + joined(command_names(app))));
    std::string out = with(before_cases, "@FILE_SCHEMES@", joined(uri_file_schemes(), " | "));
    out = completion_head + with(out, "@VALUED@", joined(valued, " | ")) + cases + after_cases;
    return with(with(with(out, "@OPTIONS@", options), "@ARGUMENTS@", all_arguments), "@SCHEMES@",
                joined(uri_schemes()));
}

}  // namespace nopscope::host
