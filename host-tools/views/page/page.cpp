// SPDX-License-Identifier: Apache-2.0
#include <utility>

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

namespace {

// In a script element, only "<" can end the text.
void add_to_script(std::string& page, std::string_view text) {
    while (!text.empty()) {
        const std::size_t at = text.find('<');
        page += text.substr(0, at);
        if (at == text.npos) return;
        page += "\\u003c";
        text.remove_prefix(at + 1);
    }
}

}  // namespace

std::string html_page(std::string_view page, const std::string& view, const std::string& opening) {
    std::string out;
    out.reserve(page.size() + view.size() + opening.size());
    for (const auto& [mark, text] :
         {std::pair<std::string_view, const std::string&>("<!--data-->", view),
          {"<!--recording-->", opening}}) {
        const std::size_t at = page.find(mark);
        if (at == page.npos)
            throw Error("this nopscope was built with a page that has no place for data");
        out += page.substr(0, at);
        add_to_script(out, text);
        page.remove_prefix(at + mark.size());
    }
    if (opening.empty()) {
        constexpr std::string_view engine = R"(id="engine">)";
        const std::size_t at = page.find(engine), end = page.find("</script>", at);
        if (end != page.npos) {
            out += page.substr(0, at + engine.size());
            page.remove_prefix(end);
        }
    }
    out += page;
    return out;
}

ServedPage served_page(std::string_view page, const std::string& controls,
                       const std::string& opening) {
    constexpr std::string_view begin = R"(<meta http-equiv="Content-Security-Policy" content=")",
                               end = "\">\n";
    const std::size_t at = page.find(begin);
    const std::size_t over = page.find(end, at == page.npos ? at : at + begin.size());
    if (over == page.npos)
        throw Error("this nopscope was built with a page that has no content security policy");
    std::string html(page.substr(0, at));
    html += page.substr(over + end.size());
    const std::string_view policy = page.substr(at + begin.size(), over - at - begin.size());
    return {html_page(html, controls, opening),
            std::string(policy) + "; connect-src 'self'; frame-ancestors 'none'"};
}

}  // namespace nopscope::host
