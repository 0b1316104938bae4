// SPDX-License-Identifier: Apache-2.0
#include "host-tools/calls/moves_in_order.hpp"

#include <algorithm>

namespace nopscope::host {
namespace {

using protocol::Extended;
using Records = std::span<const protocol::StampedRecord>;

// The bits of a record's upper half that say that it is a task's `moved`.
constexpr std::uint32_t head_bits = protocol::make_extended(static_cast<Extended>(15), 31).high();
constexpr std::uint32_t moved_head =
    protocol::make_extended(Extended::task, protocol::task_argument(protocol::TaskFact::moved, 0))
        .high();

bool is_moved(const protocol::StampedRecord& record) {
    return (record.record.high() & head_bits) == moved_head;
}

// The place of the first `moved` record, or the number of records. The inner loop has no branch.
std::size_t find_moved(Records records) {
    constexpr std::size_t block = 64;
    std::size_t at = 0;
    for (; records.size() - at >= block; at += block) {
        bool any = false;
        for (std::size_t i = 0; i < block; ++i) any |= is_moved(records[at + i]);
        if (any) break;
    }
    while (at < records.size() && !is_moved(records[at])) ++at;
    return at;
}

bool is_context(const protocol::StampedRecord& record) {
    return record.record.is(Extended::context);
}
// True of a `context` record that a `moved` record may follow. Context 0 is each core's own.
bool may_move(const protocol::StampedRecord& record) {
    return is_context(record) && record.record.argument() != 0;
}

}  // namespace

std::optional<std::uint32_t> MovesInOrder::waiting_context(unsigned number) const {
    const auto& core = cores_[number & 0xff];
    if (!core) return std::nullopt;
    for (auto one = core->waiting.rbegin(); one != core->waiting.rend(); ++one) {
        const Records left = one->left();
        const auto last = std::find_if(left.rbegin(), left.rend(), is_context);
        if (last != left.rend()) return last->record.argument();
        if (one->batch.gap) return one->batch.context;
    }
    return std::nullopt;
}

void MovesInOrder::on_session(const HelloInfo& hello) {
    has_several_cores_ = hello.cores > 1;
    Tee::on_session(hello);
}

void MovesInOrder::on_session_end() {
    pass_everything();
    for (auto& core : cores_) core.reset();
    Tee::on_session_end();
}

MovesInOrder::Core& MovesInOrder::core(unsigned number) {
    auto& slot = cores_[number & 0xff];
    if (!slot) slot = std::make_unique<Core>();
    return *slot;
}

// Whether the sinks have all that the task recorded on the core where it was, and that core's
// switch to another context, which says when the task left. Records of the target's pump may lie in
// between.
bool MovesInOrder::has_come(unsigned number, std::uint32_t context, std::uint64_t moved) const {
    const unsigned from = protocol::moved_from(moved);
    const std::uint64_t after = protocol::moved_after(moved);
    if (from == number) return true;
    const auto& core = cores_[from];
    return core && core->next_index >= after &&
           (core->has_no_more || (core->next_index > after && core->context != context));
}

// How many of the core's first records can pass. `is_last`: the next records may belong to them.
std::size_t MovesInOrder::ready(unsigned number, Records records, bool is_last) const {
    for (std::size_t at = 0;; ++at) {
        at += find_moved(records.subspan(at));
        if (at >= records.size()) break;
        const bool is_behind = at != 0 && is_context(records[at - 1]);
        const std::size_t begin = is_behind ? at - 1 : at;
        const std::uint32_t context =
            is_behind ? records[begin].record.argument() : cores_[number & 0xff]->context;
        if (at + 1 == records.size()) return is_last ? begin : records.size();
        const protocol::Record data = records[at + 1].record;
        if (data.is(Extended::data) && !has_come(number, context, data.data())) return begin;
    }
    const bool ends_in_switch = is_last && !records.empty() && may_move(records.back());
    return records.size() - (ends_in_switch ? 1 : 0);
}

void MovesInOrder::on_trace(unsigned number, const TraceBatch& batch) {
    if (!has_several_cores_) return Tee::on_trace(number, batch);
    Core& of = core(number);
    if (!of.waiting.empty()) {
        wait(of, batch);
    } else {
        const std::size_t count = ready(number, batch.records, true);
        TraceBatch first = batch;
        first.records = batch.records.first(count);
        pass(number, first);
        if (count != batch.records.size()) {
            wait(of, {.first_index = batch.first_index + count,
                      .records = batch.records.subspan(count)});
        }
    }
    if (waiting_ == 0) return;
    pass_all_ready();
    while (waiting_ > most_waiting_) pass_oldest();
}

void MovesInOrder::on_missing(unsigned number, const MissingPart& part) {
    Core& of = core(number);
    if (of.waiting.empty()) return Tee::on_missing(number, part);
    of.waiting.emplace_back().missing = part;
    ++waiting_;
    pass_all_ready();
    while (waiting_ > most_waiting_) pass_oldest();
}

void MovesInOrder::on_stats(unsigned number, const protocol::Stats& stats) {
    Tee::on_stats(number, stats);
    Core& of = core(number);
    // Records leave the target long before the next frame of stats, a second later.
    of.has_no_more = of.waiting.empty() && (++of.stats > 1 || stats.final != 0);
    if (waiting_ != 0) pass_all_ready();
}

void MovesInOrder::pass(unsigned number, const TraceBatch& batch) {
    Core& of = core(number);
    of.next_index = batch.first_index + batch.records.size();
    const auto last = std::find_if(batch.records.rbegin(), batch.records.rend(), is_context);
    if (last != batch.records.rend()) {
        of.context = last->record.argument();
    } else if (batch.gap) {
        of.context = batch.context;
    }
    of.stats = 0;
    of.has_no_more = false;
    Tee::on_trace(number, batch);
}

void MovesInOrder::wait(Core& of, const TraceBatch& batch) {
    if (of.waiting.empty()) of.waits_since = ++waits_;
    if (of.waiting.empty() || of.waiting.back().missing || batch.gap) {
        of.waiting.emplace_back().batch = batch;
        ++waiting_;
    }
    Waiting& last = of.waiting.back();
    auto& records = last.records;
    if (last.passed > records.size() / 2) {
        const auto begin = records.begin();
        records.erase(begin, begin + static_cast<std::ptrdiff_t>(last.passed));
        last.passed = 0;
    }
    records.insert(records.end(), batch.records.begin(), batch.records.end());
    waiting_ += batch.records.size();
}

// Passes the next `count` records of the core's first item.
void MovesInOrder::pass_some(unsigned number, Waiting& first, std::size_t count) {
    first.batch.records = first.left().first(count);
    first.passed += count;
    waiting_ -= count;
    pass(number, first.batch);
    first.batch.first_index += count;
    first.batch.gap = false;
}

// True: some of the core's waiting records have passed.
bool MovesInOrder::pass_ready(unsigned number) {
    Core& of = core(number);
    bool any = false;
    while (!of.waiting.empty()) {
        Waiting& first = of.waiting.front();
        if (first.missing) {
            Tee::on_missing(number, *first.missing);
        } else {
            const std::size_t count =
                ready(number, first.left(), !is_over_ && of.waiting.size() == 1);
            if (count != 0 || first.batch.gap) pass_some(number, first, count);
            any |= count != 0;
            if (!first.left().empty()) return any;
        }
        any = true;
        --waiting_;
        of.waiting.pop_front();
    }
    return any;
}

void MovesInOrder::pass_all_ready() {
    for (bool any = true; any && waiting_ != 0;) {
        any = false;
        for (unsigned number = 0; number < cores_.size(); ++number) {
            if (cores_[number] && !cores_[number]->waiting.empty()) any |= pass_ready(number);
        }
    }
}

// The core that has waited longest goes on, although the other core's records have not come.
void MovesInOrder::pass_oldest() {
    unsigned oldest = 0;
    const Core* found = nullptr;
    for (unsigned number = 0; number < cores_.size(); ++number) {
        const Core* const one = cores_[number].get();
        if (one == nullptr || one->waiting.empty()) continue;
        if (found != nullptr && one->waits_since > found->waits_since) continue;
        found = one;
        oldest = number;
    }
    if (found == nullptr) return;
    Core& of = core(oldest);
    of.waits_since = ++waits_;  // at its next move
    Waiting& first = of.waiting.front();
    const Records left = first.left();
    const std::size_t moved = find_moved(left.first(std::min<std::size_t>(left.size(), 2)));
    pass_some(oldest, first, std::min(left.size(), moved + 2));
    pass_all_ready();
}

void MovesInOrder::pass_everything() {
    is_over_ = true;
    pass_all_ready();
    while (waiting_ != 0) pass_oldest();
    is_over_ = false;
}

}  // namespace nopscope::host
