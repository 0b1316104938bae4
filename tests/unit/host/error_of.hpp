// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host-tools/base/or_throw.hpp"

namespace nopscope::host::test {

// Returns the Error that `act` throws. Without one, its sentence is empty and its code is Exit::ok.
template <typename Act>
Error error_of(Act act) {
    try {
        act();
    } catch (const Error& error) {
        return error;
    }
    return Error("", Exit::ok);
}

}  // namespace nopscope::host::test
