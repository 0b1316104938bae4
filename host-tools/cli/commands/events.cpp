// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/output.hpp"
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/options.hpp"
#include "host-tools/image/arch/pmu_events.hpp"

namespace nopscope::host {

Action add_events(CLI::App& app, CLI::App*& command) {
    command = add_command(app, "events", "List the PMU's events that have a name here",
                          {"nopscope events"});
    return [] {
        print(event_list());
        return Exit::ok;
    };
}

}  // namespace nopscope::host
