// SPDX-License-Identifier: Apache-2.0
// `report` and `graph`: read a recording, name it, print it.
#include "host-tools/base/output.hpp"
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/commands/load.hpp"

namespace nopscope::host {

Exit report(const ReportOptions& options) {
    Loaded loaded = load(options);
    sort_rows(loaded.report.functions, options.sort, options.top, options.raw);
    sort_rows(loaded.report.profile, options.sort, options.top, options.raw);
    sort_rows(loaded.report.samples.functions, options.sort, options.top);
    loaded.report.sort = options.sort;
    loaded.report.top = options.top;
    switch (options.format) {
    case Format::text:
        print(text_report(loaded.report));
        break;
    case Format::json:
        print(json_report(loaded.report));
        break;
    case Format::csv:
        print(csv_report(loaded.report));
        break;
    }
    return Exit::ok;
}

Exit graph(const ReportOptions& options) {
    const Loaded loaded = load(options);
    if (!options.yes) standard_output().limit(most_unasked_bytes);
    print(options.format == Format::json
              ? json_graph(loaded.report, *loaded.profile, options.graph)
              : text_graph(loaded.report, *loaded.profile, options.graph));
    return Exit::ok;
}

}  // namespace nopscope::host
