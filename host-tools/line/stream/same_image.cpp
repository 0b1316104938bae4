// SPDX-License-Identifier: Apache-2.0
#include "host-tools/line/stream/same_image.hpp"

#include <fmt/format.h>

#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

std::string id_text(const std::string& build_id) {
    return build_id.empty() ? "(none)" : to_hex(build_id);
}

}  // namespace

std::optional<std::string> mismatch(const Symbols& symbols, const HelloInfo& hello) {
    const Arch& arch = arch_of(hello.architecture);
    if (symbols.arch != nullptr && symbols.arch != &arch) {
        return fmt::format("{} is not the image that was recorded: it is for {}, the target is {}",
                           symbols.origin, symbols.arch->name, arch.name);
    }
    if (symbols.build_id != hello.build_id) {
        return fmt::format(
            "{} is not the image that was recorded: its build-id is {}, the recording's is {}",
            symbols.origin, id_text(symbols.build_id), id_text(hello.build_id));
    }
    if (!symbols.names_only && symbols.site_table_crc != hello.site_table_crc) {
        return fmt::format(
            "{} is not the image that was recorded: both have build-id {}, but its {} patch sites "
            "are not the recording's {} (CRC {:08x}, {:08x})",
            symbols.origin, id_text(symbols.build_id), symbols.sites.size(), hello.site_count,
            symbols.site_table_crc, hello.site_table_crc);
    }
    return std::nullopt;
}

}  // namespace nopscope::host
