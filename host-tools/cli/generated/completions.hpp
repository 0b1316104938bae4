// SPDX-License-Identifier: Apache-2.0
// What the shells' completions share. The commands' descriptions say what to offer.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace nopscope::host {

// What a completion offers for an option's value or for an argument.
struct Offer {
    enum class What { nothing, words, files, directories, uri, boards };
    What what = What::nothing;
    std::vector<std::string> words = {};
    std::string suffix = {};  // files: offer those with this ending first; empty: all
};
// `option` takes a value, or is an argument.
Offer offer_of(const CLI::App& app, const CLI::Option& option);

// A verb of ctl, and the words that may follow it ("mode": "flight", ...). Without words,
// completions offer nothing after the verb.
struct Follower {
    std::string verb;
    std::vector<std::string> values;
};
std::vector<Follower> followers(const CLI::App& command);

// The options with a name, and the positional arguments in their order.
std::vector<const CLI::Option*> named_options(const CLI::App& command);
std::vector<const CLI::Option*> arguments(const CLI::App& command);
// All names of an option: "--output", "-o".
std::vector<std::string> names_of(const CLI::Option& option);

// The beginnings of a line's URIs, and those that a file's name follows.
std::vector<std::string> uri_schemes();
std::vector<std::string> uri_file_schemes();

std::string joined(const std::vector<std::string>& words, const char* between = " ");
// Returns `text` with its first `mark` replaced by `value`.
std::string with(std::string text, const std::string& mark, const std::string& value);
// Quotes `text` for a shell: '...'.
std::string in_quotes(std::string_view text);

inline constexpr char completion_head[] = "# Written by nopscope from its own --help.\n";

}  // namespace nopscope::host
