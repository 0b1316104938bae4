// SPDX-License-Identifier: Apache-2.0
#include "host-tools/live/part_figures.hpp"

namespace nopscope::host {

PartFigures::PartFigures(const Part& part, const Profile& all, const SessionReader& reader,
                         const std::function<const Symbols*()>& symbols, const std::string& from)
    : profile_(all), stream_(profile_, part, symbols, from, all.tasks(), all.sessions_over()) {
    profile_.zero(std::nullopt, [&](unsigned core, std::uint32_t context) {
        return (!part.core || core == *part.core) &&
               (part.task.empty() ||
                all.tasks().is_named(part.task, all.sessions_over(), core, context));
    });
    if (!reader.has_session()) return;
    stream_.on_session(reader.hello());
    for (unsigned core = 0; core < reader.hello().cores; ++core) {
        if (const auto at = reader.position_of(core))
            stream_.begin_within(core, all.context_of(core), at->clock);
    }
}

}  // namespace nopscope::host
