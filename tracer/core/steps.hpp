// SPDX-License-Identifier: Apache-2.0
// A request of several steps. It runs one after another until a step is refused. A step that timed
// out was carried out, so the next one follows.
//
//     return Steps().then([&] { return attach(ops, sites); })
//                   .then([&] { return detach(old); }).status();
#pragma once

#include "nopscope/nopscope.hpp"

namespace nopscope {

class Steps {
public:
    template <typename Step>
    constexpr Steps& then(Step step) {
        if (!carried_out(status_)) return *this;
        const Status said = step();
        partly_ = begun_ && !carried_out(said);
        begun_ = true;
        if (said != Status::ok) status_ = said;
        return *this;
    }
    // The refusal; else timeout, if a step timed out; else ok.
    constexpr Status status() const { return status_; }
    // True if a step was refused after another had been carried out.
    constexpr bool partly() const { return partly_; }

private:
    Status status_ = Status::ok;
    bool begun_ = false;
    bool partly_ = false;
};

}  // namespace nopscope
