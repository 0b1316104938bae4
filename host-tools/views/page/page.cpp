// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>

#include "host-tools/base/error.hpp"
#include "host-tools/views/page/html.hpp"

// From cmake/page.cmake.
extern "C" const char _binary_page_html_start[];
extern "C" const char _binary_page_html_end[];

namespace nopscope::host {

std::string_view page_template() {
    return {_binary_page_html_start,
            static_cast<std::size_t>(_binary_page_html_end - _binary_page_html_start)};
}

double largest_left_out(std::vector<double> weights, std::size_t most) {
    if (weights.size() <= most) return -1;
    std::nth_element(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(most),
                     weights.end(), std::greater<>());
    return weights[most];
}

// In a script element, only "<" can end the data.
std::string html_page(std::string_view page, const std::string& view) {
    constexpr std::string_view mark = "<!--data-->";
    const std::size_t at = page.find(mark);
    if (at == std::string_view::npos)
        throw Error("this nopscope was built with a page that has no place for data");
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

ServedPage served_page(std::string_view page, const std::string& controls) {
    constexpr std::string_view begin = R"(<meta http-equiv="Content-Security-Policy" content=")",
                               end = "\">\n";
    const std::size_t at = page.find(begin);
    const std::size_t over = page.find(end, at == page.npos ? at : at + begin.size());
    if (over == page.npos)
        throw Error("this nopscope was built with a page that has no content security policy");
    std::string html(page.substr(0, at));
    html += page.substr(over + end.size());
    const std::string_view policy = page.substr(at + begin.size(), over - at - begin.size());
    return {html_page(html, controls),
            std::string(policy) + "; connect-src 'self'; frame-ancestors 'none'"};
}

}  // namespace nopscope::host
