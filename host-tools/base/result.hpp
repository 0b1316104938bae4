// SPDX-License-Identifier: Apache-2.0
// A value, or an Error. The reader and the analysis return it and do not throw, because they also
// run in a page, where nothing can be thrown (views/engine/).
#pragma once

#include <expected>
#include <string>
#include <utility>

#include "host-tools/base/error.hpp"

namespace nopscope::host {

template <typename T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> failure(const std::string& sentence, Exit code = Exit::input) {
    return std::unexpected(Error(sentence, code));
}

#ifdef __cpp_exceptions
// For commands: the value, or throws the Error.
template <typename T>
T or_throw(Result<T> result) {
    if (!result) throw std::move(result).error();
    if constexpr (!std::is_void_v<T>) return std::move(result).value();
}
#endif

}  // namespace nopscope::host
