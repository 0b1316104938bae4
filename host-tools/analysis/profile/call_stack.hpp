// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "host-tools/analysis/profile/call.hpp"
#include "tracer/protocol/event.hpp"

namespace nopscope::host {

// The open calls, innermost on top. Element 0, below the outermost call, never closes: it sums up
// the time of the outermost calls.
class CallStack {
public:
    CallStack() : calls_(16), top_(calls_.data()) { calls_[0].plain_end = OpenCall::not_plain; }
    CallStack(const CallStack& other)
        : calls_(other.calls_.begin(), other.calls_.begin() + static_cast<long>(other.depth()) + 1),
          top_(calls_.data() + other.depth()) {}
    CallStack& operator=(const CallStack&) = delete;

    std::size_t depth() const { return static_cast<std::size_t>(top_ - calls_.data()); }
    bool empty() const { return depth() == 0; }
    // 1 is the outermost call, depth() the innermost.
    OpenCall& operator[](std::size_t at) { return calls_[at]; }
    const OpenCall& operator[](std::size_t at) const { return calls_[at]; }
    template <typename Visit>
    void for_each_call(Visit visit) const {
        for (std::size_t at = 1; at <= depth(); ++at) {
            if (!calls_[at].is_gap()) visit(calls_[at]);
        }
    }
    OpenCall& top() { return *top_; }
    const OpenCall& top() const { return *top_; }

    // The place of the open call that the return names, or 0. Record indices ascend up the stack,
    // so the search ends at the first older call, unless the outermost call is so old that the 28
    // bits of an entry's index have wrapped.
    std::size_t find(const protocol::Event& event) const {
        const std::uint64_t distance =
            (event.index - event.entry_index) & protocol::entry_index_mask;
        const std::uint64_t wanted = event.index - distance;
        const bool wrapped = !empty() && event.index - calls_[1].index > protocol::entry_index_mask;
        for (std::size_t i = depth(); i > 0; --i) {
            const OpenCall& call = calls_[i];
            if (call.is_gap()) continue;
            if (((call.index ^ wanted) & protocol::entry_index_mask) == 0) return i;
            if (!wrapped && call.index < wanted) break;
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
    void push(const OpenCall& call) {
        if (!has_room()) grow();
        *++top_ = call;
    }
    void pop() { --top_; }
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
};

}  // namespace nopscope::host
