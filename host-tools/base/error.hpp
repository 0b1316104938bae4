// SPDX-License-Identifier: Apache-2.0
// The errors of host-tools. From a recording to its figures a function returns its error as a
// Result, since a page has no exceptions; cli/ and live/ throw it (or_throw.hpp). Elsewhere an
// Error is an exception, which main catches. Parsers of outside bytes have none: they count the
// faults and continue.
#pragma once

#include <expected>
#include <stdexcept>
#include <string>
#include <system_error>

namespace nopscope::host {

// The command's exit code, documented in docs/cli.md.
enum class Exit : int {
    ok = 0,
    check_failed = 1,      // a check failed: check, doctor, diff --fail-above
    usage = 2,             // the command line makes no sense
    input = 3,             // a file, port or image that cannot be used
    target_failed = 4,     // record: the command behind exec: failed
    nothing_recorded = 5,  // record: no session was heard
};

// One sentence for a person, without a final full stop.
class Error : public std::runtime_error {
public:
    explicit Error(const std::string& sentence, Exit code = Exit::input)
        : std::runtime_error(sentence), code_(code) {}
    Exit code() const { return code_; }

private:
    Exit code_;
};

template <typename T = void>
using Result = std::expected<T, Error>;
inline std::unexpected<Error> failure(const std::string& sentence, Exit code = Exit::input) {
    return std::unexpected(Error(sentence, code));
}

// The end of a sentence about a failed system call: "No such file or directory".
inline std::string system_error(int number) { return std::generic_category().message(number); }

// The reader of standard output has gone, as in `| head`: it has all that it wanted. The command
// ends without a sentence.
struct ReaderGone : Error {
    using Error::Error;
};

}  // namespace nopscope::host
