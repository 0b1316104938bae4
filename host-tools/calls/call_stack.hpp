// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "host-tools/calls/call.hpp"
#include "tracer/protocol/event.hpp"

namespace nopscope::host {

// Where a return was recorded: on the core whose calls are on the stack, or on another one.
enum class ReturnOn : std::uint8_t { same_core, another_core };

// The open calls, innermost on top. Element 0, below the outermost call, never closes: it sums up
// the time of the outermost calls.
class CallStack {
public:
    CallStack() : calls_(16), top_(calls_.data()) { calls_[0].plain_end = OpenCall::not_plain; }
    CallStack(const CallStack& other)
        : calls_(other.calls_.begin(), other.calls_.begin() + static_cast<long>(other.depth()) + 1),
          top_(calls_.data() + other.depth()),
          has_several_cores_(other.has_several_cores_) {}
    CallStack& operator=(const CallStack&) = delete;

    std::size_t depth() const { return static_cast<std::size_t>(top_ - calls_.data()); }
    bool empty() const { return depth() == 0; }
    // 1 is the outermost call, depth() the innermost.
    OpenCall& operator[](std::size_t at) { return calls_[at]; }
    const OpenCall& operator[](std::size_t at) const { return calls_[at]; }
    // The outermost first; without those that the part leaves out.
    template <typename Visit>
    void for_each_call(Visit visit) const {
        for (std::size_t at = 1; at <= depth(); ++at) {
            if (calls_[at].is_shown()) visit(calls_[at]);
        }
    }
    // False if no call is open, or the innermost is unknown or left out.
    bool top_is_shown() const { return !empty() && top_->is_shown(); }
    OpenCall& top() { return *top_; }
    const OpenCall& top() const { return *top_; }

    // The place of the open call that the return names, or 0. Record indices ascend up the stack,
    // so the search ends at the first older call, unless the calls are of several cores, or the
    // outermost call is so old that the 28 bits of an entry's index have wrapped.
    std::size_t find(const protocol::Event& event, ReturnOn core = ReturnOn::same_core) const {
        const std::uint64_t distance =
            (event.index - event.entry_index) & protocol::entry_index_mask;
        const std::uint64_t wanted = event.index - distance;
        const bool is_one_core = core == ReturnOn::same_core && !has_several_cores_;
        const bool ascends =
            is_one_core && (empty() || event.index - calls_[1].index <= protocol::entry_index_mask);
        for (std::size_t i = depth(); i > 0; --i) {
            const OpenCall& call = calls_[i];
            if (call.is_gap()) continue;
            if (((call.index ^ wanted) & protocol::entry_index_mask) == 0) return i;
            if (ascends && call.index < wanted) break;
        }
        return 0;
    }

    bool has_room() const { return depth() + 1 < calls_.size(); }
    // Bytes that grow() takes.
    std::uint64_t growth_bytes() const { return calls_.size() * bytes_a_call; }
    // Doubles the room. push() does it, too, if there is none.
    void grow() {
        const std::size_t at = depth();
        calls_.resize(2 * calls_.size());
        top_ = calls_.data() + at;
    }
    // Then set its call.
    OpenCall& push() {
        if (!has_room()) grow();
        return *++top_;
    }
    void pop() {
        --top_;
        if (empty()) has_several_cores_ = false;
    }
    // This stack is empty: takes the calls of another core's.
    void take(CallStack& from) {
        calls_.swap(from.calls_);
        std::swap(top_, from.top_);
        from.top_ = from.calls_.data();
        from.has_several_cores_ = false;
        has_several_cores_ = !empty();
    }
    // Removes the calls from `first` to `last` - 1.
    void erase(std::size_t first, std::size_t last) {
        calls_.erase(calls_.begin() + static_cast<long>(first),
                     calls_.begin() + static_cast<long>(last));
        calls_.resize(calls_.size() + last - first);
        top_ -= last - first;
    }

    // For a loop that keeps the top in a register: the last usable element, and the new top.
    OpenCall* room() { return calls_.data() + calls_.size() - 1; }
    void set_top(OpenCall* top) { top_ = top; }

private:
    // While the stack grows, memory has each call twice. The 64 bytes are those of EventChildren.
    static constexpr std::uint64_t bytes_a_call = 2 * sizeof(OpenCall) + 64;

    std::vector<OpenCall> calls_;
    OpenCall* top_;
    bool has_several_cores_ = false;  // the entries of some open calls are in another core's ring
};

// Sums by stack depth, for calls that the indices of their entries tell apart, after a move:
// forgets those of ended calls, since the new core's indices may be the same.
template <typename Sum>
void keep_open(std::vector<Sum>& sums, const CallStack& calls) {
    if (sums.size() > calls.depth() + 1) sums.resize(calls.depth() + 1);
    for (std::size_t at = 0; at < sums.size(); ++at) {
        const bool is_open =
            sums[at].index % OpenCall::first_core_tag == calls[at].index % OpenCall::first_core_tag;
        if (!is_open) sums[at] = {};
        sums[at].index = calls[at].index;
    }
}

}  // namespace nopscope::host
