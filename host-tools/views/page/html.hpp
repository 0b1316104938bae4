// SPDX-License-Identifier: Apache-2.0
// A recording as one page for a browser. The page contains everything and loads nothing.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "host-tools/analysis/profile/profile.hpp"
#include "host-tools/analysis/report/json.hpp"
#include "host-tools/analysis/report/report.hpp"
#include "host-tools/analysis/timeline/timeline.hpp"

namespace nopscope::host {

// Makes a page's section `code`; CodeView (code.hpp) does it from an image.
using CodePart = std::function<Json(const Report& report, const PositionOf& position)>;

// Optional parts of a page.
struct ViewParts {
    const Timeline* timeline = nullptr;
    CodePart code;
};

inline constexpr std::size_t default_most_paths = 50'000;

// The page's data as JSON (web/src/model.ts has its fields). Each tree has its `most_paths` longest
// paths. One more path for each caller stands for its shorter ones.
std::string view_json(const Report& report, const Profile& profile, const std::string& title,
                      std::size_t most_paths = default_most_paths, const ViewParts& parts = {});

// By key_of(): the positions of functions in the view.
using Positions = std::unordered_map<std::uint64_t, std::size_t>;
Positions positions_in_view(const Report& report, const Profile& profile);
PositionOf position_in(const Positions& positions);  // they must live as long as the result

// The built-in page of web/, with marks where the data and the recording go.
std::string_view page_template();

// The page with the data in it. `opening`: opening_json() (recording.hpp). If it is empty, the page
// has no engine. Any bytes in names are safe.
std::string html_page(std::string_view page, const std::string& view,
                      const std::string& opening = {});

// The page of a server: it has the controls of a target (web/src/controls.ts), and requests the
// view from its server (views/serve/server.hpp). `policy` is the content security policy for the
// response's head: the page's own, plus requests to its server, but no frames.
struct ServedPage {
    std::string html;
    std::string policy;
};
ServedPage served_page(std::string_view page, const std::string& controls,
                       const std::string& opening = {});

}  // namespace nopscope::host
