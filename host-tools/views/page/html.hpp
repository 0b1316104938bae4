// SPDX-License-Identifier: Apache-2.0
// A recording as one page to look at in a browser: everything is inside, and nothing is loaded.
#pragma once

#include <string>
#include <string_view>

#include "host-tools/views/page/code.hpp"
#include "host-tools/analysis/timeline/timeline.hpp"
#include "host-tools/analysis/profile/profile.hpp"
#include "host-tools/analysis/report/report.hpp"

namespace nopscope::host {

// What a page may have besides, where it is at hand.
struct ViewParts {
    const Timeline* timeline = nullptr;
    const CodeView* code = nullptr;
};

inline constexpr std::size_t default_most_paths = 50'000;

// What the page shows, as JSON (web/src/model.ts has its fields). Of each tree the `most_paths` longest
// paths; what is left out of it is one path, of its caller.
std::string view_json(const Report& report, const Profile& profile, const std::string& title,
                      std::size_t most_paths = default_most_paths, const ViewParts& parts = {});

// web/ as it was built in: with a mark where the data goes.
std::string_view page_template();

// The page with the data in it, whatever bytes its names have.
std::string html_page(std::string_view page, const std::string& view);

// The page with what can be asked of a target (web/src/controls.ts), which asks its server for the
// rest (views/serve/server.hpp), and the content security policy that belongs into its response's
// head: the page's own, and that it may ask where it came from, and be in no frame.
struct ServedPage {
    std::string html;
    std::string policy;
};
ServedPage served_page(std::string_view page, const std::string& controls);

}  // namespace nopscope::host
