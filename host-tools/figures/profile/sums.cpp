// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/profile/sums.hpp"

#include <algorithm>

#include "host-tools/figures/profile/paths.hpp"

namespace nopscope::host {
namespace {

using Nodes = std::vector<CallTree::Node>;
using Signed = SignedFixedTicks;

constexpr std::size_t first_path = CallTree::first_path;

FixedTicks above_zero(Signed value) { return value > 0 ? static_cast<FixedTicks>(value) : 0; }

// Raises each negative self time to zero and subtracts the difference from the caller's self time.
// Returns the sum of the differences that have no caller.
FixedTicks settle(const Nodes& nodes, std::vector<Signed>& self) {
    FixedTicks below = 0;
    for (std::size_t i = nodes.size(); i-- > first_path;) {
        if (self[i] >= 0) continue;
        if (nodes[nodes[i].parent].is_path()) {
            self[nodes[i].parent] += self[i];
        } else {
            below += above_zero(-self[i]);
        }
        self[i] = 0;
    }
    return below;
}

// By node: the time inside its calls that no call has as self time.
std::vector<FixedTicks> between(const Nodes& nodes) {
    std::vector<Signed> rest(nodes.size());
    for (std::size_t i = first_path; i < nodes.size(); ++i) {
        const CallTree::Node& node = nodes[i];
        if (!node.is_path()) continue;
        rest[i] += Signed{node.total_ticks} - Signed{node.self_ticks};
        rest[node.parent] -= Signed{node.total_ticks};
    }
    std::vector<FixedTicks> result(nodes.size());
    for (std::size_t i = first_path; i < nodes.size(); ++i) {
        if (nodes[i].is_path()) result[i] = above_zero(rest[i]) * protocol::overhead_unit;
    }
    return result;
}

// By group and function, in ticks: the function's times less those of its paths. They differ
// because the budget refused paths, and because a gap may put a time below two of its paths.
struct Beside {
    std::vector<std::vector<Signed>> total;
    // 1/256 ticks; only from refused paths, so never negative.
    std::vector<std::vector<FixedTicks>> self;
};
Beside beside_paths(const Nodes& nodes, const TimesByGroup& times, std::size_t functions,
                    const std::vector<FixedTicks>& between_of) {
    std::vector<FixedTicks> totals(nodes.size());
    for (std::size_t i = nodes.size(); i-- > first_path;) {
        if (!nodes[i].is_path()) continue;
        totals[i] += nodes[i].self_ticks + between_of[i] / protocol::overhead_unit;
        totals[nodes[i].parent] += totals[i];
    }
    std::vector<std::vector<Signed>> self(times.size());
    Beside beside{std::vector<std::vector<Signed>>(times.size()),
                  std::vector<std::vector<FixedTicks>>(times.size())};
    for (std::size_t group = 0; group < times.size(); ++group) {
        self[group].resize(functions);
        beside.total[group].resize(functions);
        beside.self[group].resize(functions);
        for (std::size_t f = 0; f < times[group].size(); ++f) {
            self[group][f] = static_cast<Signed>(times[group][f].self_ticks);
            beside.total[group][f] = static_cast<Signed>(times[group][f].total_ticks);
        }
    }
    for_each_path(nodes, functions, [&](std::uint32_t node, bool outermost) {
        const CallTree::Node& of = nodes[node];
        self[of.group][of.function] -= static_cast<Signed>(of.self_ticks);
        if (outermost) beside.total[of.group][of.function] -= static_cast<Signed>(totals[node]);
    });
    for (std::size_t group = 0; group < times.size(); ++group) {
        for (std::size_t f = 0; f < functions; ++f)
            beside.self[group][f] = above_zero(self[group][f]) * protocol::overhead_unit;
    }
    return beside;
}

// Puts lengths end to end and rounds the ends, so the nanoseconds add up without an error.
class Ruler {
public:
    explicit Ruler(std::uint64_t clock_hz) : clock_hz_(clock_hz) {}
    std::uint64_t next(FixedTicks length) {
        if (length == 0) return 0;
        const std::uint64_t end = fixed_to_ns(at_ += length, clock_hz_);
        const std::uint64_t ns = end - end_;
        end_ = end;
        return ns;
    }

private:
    std::uint64_t clock_hz_;
    FixedTicks at_ = 0;
    std::uint64_t end_ = 0;
};

std::uint64_t plus(std::uint64_t ns, Signed ticks, std::uint64_t clock_hz) {
    const std::uint64_t change = fixed_to_ns(
        static_cast<FixedTicks>(ticks < 0 ? -ticks : ticks) * protocol::overhead_unit, clock_hz);
    if (ticks >= 0) return ns + change;
    return ns > change ? ns - change : 0;
}

}  // namespace

Sums sum_up(const Profile& profile, const TimesByGroup& times,
            const std::vector<SignedFixedTicks>& taken) {
    const Nodes& nodes = profile.tree().nodes();
    const std::size_t functions = profile.functions().size();
    Sums sums{std::vector<Times>(nodes.size()),
              std::vector<std::vector<Times>>(times.size(), std::vector<Times>(functions))};
    if (!profile.hello()) return sums;
    const std::uint64_t clock_hz = profile.hello()->clock_hz;
    std::vector<Signed> self(nodes.size());
    for (std::size_t i = first_path; i < nodes.size(); ++i) {
        if (!nodes[i].is_path()) continue;
        self[i] =
            Signed{nodes[i].self_ticks} * protocol::overhead_unit - (taken.empty() ? 0 : taken[i]);
    }
    sums.below_zero_ns = fixed_to_ns(settle(nodes, self), clock_hz);
    const std::vector<FixedTicks> between_of = between(nodes);
    const Beside beside = beside_paths(nodes, times, functions, between_of);

    Ruler ruler(clock_hz);
    for_each_path(nodes, functions, [&](std::uint32_t node, bool) {
        sums.nodes[node].self_ns = ruler.next(static_cast<FixedTicks>(self[node]));
        sums.nodes[node].total_ns = ruler.next(between_of[node]);
    });
    for (std::size_t group = 0; group < times.size(); ++group) {
        for (std::size_t f = 0; f < functions; ++f) {
            sums.functions[group][f].self_ns = ruler.next(beside.self[group][f]);
            sums.nodes[profile.tree().groups()[group].overflow].self_ns +=
                sums.functions[group][f].self_ns;
        }
    }
    for (std::size_t i = nodes.size(); i-- > CallTree::root + 1;) {
        Times& of = sums.nodes[i];
        of.total_ns += of.self_ns;
        of.cpu_ns += of.self_ns;
        sums.nodes[nodes[i].parent].total_ns += of.total_ns;
        sums.nodes[nodes[i].parent].cpu_ns += of.cpu_ns;
    }
    for_each_path(nodes, functions, [&](std::uint32_t node, bool outermost) {
        Times& of = sums.functions[nodes[node].group][nodes[node].function];
        of.self_ns += sums.nodes[node].self_ns;
        if (!outermost) return;
        of.total_ns += sums.nodes[node].total_ns;
        of.cpu_ns += sums.nodes[node].cpu_ns;
    });
    for (std::size_t group = 0; group < times.size(); ++group) {
        for (std::size_t f = 0; f < functions; ++f) {
            Times& of = sums.functions[group][f];
            of.total_ns = std::max(plus(of.total_ns, beside.total[group][f], clock_hz), of.self_ns);
            of.cpu_ns = std::clamp(of.cpu_ns, of.self_ns, of.total_ns);
            if (profile.is_on_cpu()) of.total_ns = of.cpu_ns;
        }
    }
    if (profile.is_on_cpu()) {
        for (Times& of : sums.nodes) of.total_ns = of.cpu_ns;
    }
    return sums;
}

}  // namespace nopscope::host
