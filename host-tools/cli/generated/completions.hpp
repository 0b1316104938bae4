// SPDX-License-Identifier: Apache-2.0
// What the shells' completions share: what there is to offer, from the commands' own descriptions.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace nopscope::host {

// For a value, or an argument.
struct Offer {
    enum class What { nothing, words, files, directories, uri, boards };
    What what = What::nothing;
    std::vector<std::string> words = {};
    std::string suffix = {};  // files: those that end so go first; empty: all
};
// Of an option that takes a value, or of an argument.
Offer offer_of(const CLI::App& app, const CLI::Option& option);

// A verb of ctl, and the words that may follow it ("mode": "flight", ...). No words: nothing is
// offered behind it.
struct Follower {
    std::string verb;
    std::vector<std::string> values;
};
std::vector<Follower> followers(const CLI::App& command);

// Options with a name, and positional arguments in their order.
std::vector<const CLI::Option*> named_options(const CLI::App& command);
std::vector<const CLI::Option*> arguments(const CLI::App& command);
// "--output", "-o".
std::vector<std::string> names_of(const CLI::Option& option);
std::vector<std::string> command_names(const CLI::App& app);
bool takes_value(const CLI::Option& option);
// An argument that may be given more than once, or an option.
bool is_repeated(const CLI::Option& option);

// How a line's URIs begin; those behind which a file's name comes.
std::vector<std::string> uri_schemes();
std::vector<std::string> uri_file_schemes();

std::string joined(const std::vector<std::string>& words, const char* between = " ");
// `text` with `value` where `mark` is.
std::string with(std::string text, const std::string& mark, const std::string& value);
// Within '...' of a shell.
std::string in_quotes(std::string_view text);

inline constexpr char completion_head[] = "# Written by nopscope from its own --help.\n";

}  // namespace nopscope::host
