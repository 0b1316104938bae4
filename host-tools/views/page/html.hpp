// SPDX-License-Identifier: Apache-2.0
// A recording as one page for a browser. The page contains everything and loads nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host-tools/figures/diff/diff.hpp"
#include "host-tools/figures/profile/profile.hpp"
#include "host-tools/figures/report/report.hpp"
#include "host-tools/figures/timeline/timeline.hpp"
#include "host-tools/views/page/code.hpp"

namespace nopscope::host {

// Optional parts of a page.
struct ViewParts {
    const Timeline* timeline = nullptr;
    const CodeView* code = nullptr;
};

inline constexpr std::size_t default_most_paths = 50'000;

// The page's data as JSON (web/src/model.ts has its fields). Each tree has its `most_paths` longest
// paths. One more path for each caller stands for its shorter ones.
std::string view_json(const Report& report, const Profile& profile, const std::string& title,
                      std::size_t most_paths = default_most_paths, const ViewParts& parts = {});

// The page's section `timeline` (web/src/timeline_model.ts), of all events so far. An open call
// ends with its track's last event.
Json timeline_json(const Timeline& of, const PositionOf& position);

// The largest of the weights that are left out if the page has `most`; -1: it has all.
double largest_left_out(std::vector<double> weights, std::size_t most);

// The same of a comparison. Its times are those after the change. It also has the paths' self times
// before it, for a differential flame graph. Only the facts have gone functions.
std::string view_json(const Names& names, const Difference& difference, const std::string& title,
                      const std::string& headline, std::size_t most_paths = default_most_paths);

// The built-in page of web/, with a mark where the data goes.
std::string_view page_template();

// The page with the data in it. Any bytes in names are safe.
std::string html_page(std::string_view page, const std::string& view);

// The page of a server: it has the controls of a target (web/src/controls.ts), and requests the
// view from its server (views/serve/server.hpp). `policy` is the content security policy for the
// response's head: the page's own, plus requests to its server, but no frames.
struct ServedPage {
    std::string html;
    std::string policy;
};
ServedPage served_page(std::string_view page, const std::string& controls);

}  // namespace nopscope::host
