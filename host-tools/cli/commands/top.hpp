// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/views/top/rows.hpp"

namespace nopscope::host {

struct TopOptions {
    LiveOptions live;
    double interval = 1;  // seconds between two updates
    bool once = false;    // one view, without a terminal; then
    double after = 2;     // seconds before it
    Format format = Format::text;
    std::size_t top = 0;  // functions; 0: all
    top::Column sort = top::Column::now;
    bool raw = false;
};
Exit watch(const TopOptions& options);

}  // namespace nopscope::host
