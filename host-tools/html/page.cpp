// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/error.hpp"
#include "host-tools/html/html.hpp"

// cmake/page.cmake
extern "C" const char _binary_page_html_start[];
extern "C" const char _binary_page_html_end[];

namespace nopscope {

std::string_view page_template() {
    return {_binary_page_html_start, static_cast<std::size_t>(_binary_page_html_end - _binary_page_html_start)};
}

// In a script element only "<" can begin what is not data.
std::string html_page(std::string_view page, const std::string& view) {
    constexpr std::string_view mark = "<!--data-->";
    const std::size_t at = page.find(mark);
    if (at == std::string_view::npos) throw Error("this nopscope was built with a page that has no place for data");
    std::string out(page.substr(0, at));
    for (const char c : view) {
        if (c == '<') {
            out += "\\u003c";
        } else {
            out += c;
        }
    }
    out += page.substr(at + mark.size());
    return out;
}

}  // namespace nopscope
