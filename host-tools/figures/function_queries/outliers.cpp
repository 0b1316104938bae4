// SPDX-License-Identifier: Apache-2.0
#include "host-tools/figures/function_queries/outliers.hpp"

#include <algorithm>

namespace nopscope::host {

void OutlierSink::on_function(std::uint32_t number, const FunctionPlace& place) {
    places_[number] = {place, number < first_own_function && wanted_(place)};
}

std::uint32_t OutlierSink::child(Watched& on, std::uint32_t parent, std::uint32_t function) {
    auto& nodes = on.call.nodes;
    const std::uint64_t key = std::uint64_t{parent} << 32 | function;
    if (const auto known = on.children.find(key); known != on.children.end()) return known->second;
    if (nodes.size() == max_nodes) {
        on.call.cut = true;
        return Open::none;
    }
    on.children.emplace(key, nodes.size());
    nodes.push_back({.parent = parent, .function = function});
    return static_cast<std::uint32_t>(nodes.size() - 1);
}

void OutlierSink::entry(const Track& track, std::uint32_t function, Nanoseconds now) {
    Watched& on = tracks_[track.number];
    Open open{.from = now};
    if (on.open.empty()) {
        if (function >= first_own_function || !places_.at(function).wanted) return;
        on.call = {.track = track, .from = now, .nodes = {{.function = function}}};
        on.children.clear();
        open.node = 0;
    } else if (!is_beside(function) && on.open.back().node != Open::none) {
        open.node = child(on, on.open.back().node, function);
    }
    on.open.push_back(open);
}

void OutlierSink::leave(const Track& track, const EndedCall& call) {
    Watched& on = tracks_[track.number];
    if (on.open.empty()) return;
    const Open open = on.open.back();
    on.open.pop_back();
    const Nanoseconds now = call.to;
    if (call.function == away_function) on.open.back().away += now - open.from;
    if (is_beside(call.function)) {
        on.open.back().beside += now - open.from;
        return;
    }
    const Nanoseconds total = now - open.from - open.beside;
    if (open.node != Open::none) {
        OutlierNode& node = on.call.nodes[open.node];
        ++node.calls;
        node.total += total;
        node.self += total - open.inside;
    }
    if (!on.open.empty()) {
        on.open.back().inside += total;
        on.open.back().beside += open.beside;
        on.open.back().away += open.away;
        return;
    }
    on.call.how = call.how;
    on.call.away = open.away;
    keep(std::move(on.call));
}

void OutlierSink::keep(Outlier&& call) {
    ++calls_;
    const auto before = std::upper_bound(
        slowest_.begin(), slowest_.end(), call,
        [](const Outlier& a, const Outlier& b) { return a.duration() > b.duration(); });
    if (before == slowest_.end() && slowest_.size() >= most_) return;
    slowest_.insert(before, std::move(call));
    if (slowest_.size() > most_) slowest_.pop_back();
}

}  // namespace nopscope::host
