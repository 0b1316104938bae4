// SPDX-License-Identifier: Apache-2.0
// Missing records: how many, which times are doubtful because of them, and what helps.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "host-tools/analysis/report/json.hpp"
#include "host-tools/analysis/report/report.hpp"
#include "host-tools/base/memory.hpp"
#include "host-tools/base/text.hpp"

namespace nopscope::host {
namespace {

std::string listed(const std::vector<std::string>& parts) {
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == parts.size() ? " or " : ", ") + parts[i];
    }
    return text;
}

}  // namespace

Loss loss_of(const Report& report) {
    Loss loss{.events = report.integrity.value("generated"),
              .dropped = report.integrity.value("dropped"),
              .lost = report.integrity.value("lost"),
              .unhooked = report.integrity.value("shadow_stack_full"),
              .helps = {}};
    if (loss.dropped != 0) {
        if (!report.adaptive) loss.helps.emplace_back("--mode adaptive");
        loss.helps.emplace_back("--trace GLOB");
        loss.helps.emplace_back("--recorder profile");
        if (!report.lossless) loss.helps.emplace_back("--mode lossless");
    }
    if (loss.lost != 0) loss.helps.emplace_back("a line with fewer errors");
    if (loss.unhooked != 0) loss.helps.emplace_back("a firmware with more NOPSCOPE_SHADOW_FRAMES");
    return loss;
}

std::string beyond_shadow_stack(std::uint64_t calls) {
    return fmt::format("{} call{} deeper than the shadow stack", with_commas(calls),
                       calls == 1 ? "" : "s");
}

std::string loss_line(const Report& report) {
    const Loss loss = loss_of(report);
    if (!loss.any()) return {};
    std::vector<std::string> how;
    if (loss.dropped != 0) how.push_back(with_commas(loss.dropped) + " dropped by the target");
    if (loss.lost != 0) how.push_back(with_commas(loss.lost) + " lost on the line");
    const double percent = 100 * loss.share();
    std::string line = "missing: ";
    if (!how.empty())
        line += fmt::format("{} of {} records ({})",
                            percent < 0.1 ? "less than 0.1 %" : fmt::format("{:.1f} %", percent),
                            with_commas(loss.events), fmt::join(how, ", "));
    if (loss.unhooked != 0)
        line += (how.empty() ? "" : ", and ") + beyond_shadow_stack(loss.unhooked);
    if (std::any_of(report.functions.begin(), report.functions.end(), is_doubtful) ||
        (loss.unhooked != 0 && !report.profile.empty())) {
        line += "; self times marked ~ may contain calls that are missing";
    }
    return line + "; what helps: " + listed(loss.helps) + "\n";
}

std::string others_line(const Report& report) {
    const Others& others = report.others;
    if (!others.any()) return {};
    std::vector<std::string> parts;
    if (others.calls != 0) parts.push_back(with_commas(others.calls) + " calls of more functions");
    if (others.path_calls != 0)
        parts.push_back(with_commas(others.path_calls) + " calls on more paths");
    std::string line = "memory: ";
    if (!parts.empty()) line += fmt::format("{} has {}", others_name, fmt::join(parts, " and "));
    if (others.left_out != 0) {
        line += fmt::format("{}{} values, marks, gaps or counts are left out",
                            parts.empty() ? "" : "; ", with_commas(others.left_out));
    }
    return line + fmt::format("; more than --memory {}MB would keep them apart\n",
                              memory_limit() / 1'000'000);
}

Json json_others(const Report& report) {
    const Others& others = report.others;
    return {{"calls", others.calls},
            {"path_calls", others.path_calls},
            {"left_out", others.left_out},
            {"memory_bytes", memory_limit()}};
}

Json json_loss(const Report& report) {
    const Loss loss = loss_of(report);
    return {{"records", loss.events},    {"dropped", loss.dropped}, {"lost", loss.lost},
            {"unhooked", loss.unhooked}, {"share", loss.share()},   {"helps", loss.helps}};
}

}  // namespace nopscope::host
