// SPDX-License-Identifier: Apache-2.0
// The figures of one core or of some tasks, from the moment when a person chooses it.
#pragma once

#include <functional>

#include "host-tools/analysis/part/part_stream.hpp"

namespace nopscope::host {

class PartFigures {
public:
    // `all` has the figures of all that `reader` has decoded; its open calls go on here. `part` has
    // no time range. The reader's sink must pass all that follows to sink().
    PartFigures(const Part& part, const Profile& all, const SessionReader& reader,
                const std::function<const Symbols*()>& symbols, const std::string& from);

    SessionSink& sink() { return stream_; }
    Profile& profile() { return profile_; }

private:
    Profile profile_;
    PartStream stream_;
};

}  // namespace nopscope::host
