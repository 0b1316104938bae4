// SPDX-License-Identifier: Apache-2.0
// Time zero is a session's earliest record. It need not come first: a core that began earlier may
// be read later. So a recording is read twice: first into FirstClocks, which needs only the first
// records of each core, and then through an OriginsAhead.
#pragma once

#include <bitset>
#include <optional>
#include <vector>

#include "host-tools/line/stream/tee.hpp"

namespace nopscope::host {

class FirstClocks final : public SessionSink {
public:
    void on_session(const HelloInfo&) override {
        clocks_.emplace_back();
        seen_.reset();
    }
    void on_trace(unsigned core, const TraceBatch& batch) override {
        if (batch.records.empty() || seen_.test(core & 0xff)) return;
        seen_.set(core & 0xff);
        const std::uint64_t clock = batch.records.front().clock;
        auto& first = clocks_.back();
        if (!first || static_cast<std::int64_t>(clock - *first) < 0) first = clock;
    }
    // Of each session, in their order; nothing: it has no record.
    const std::vector<std::optional<std::uint64_t>>& clocks() const { return clocks_; }

private:
    std::vector<std::optional<std::uint64_t>> clocks_;
    std::bitset<256> seen_;
};

// Tells the sink each session's first clock (on_origin()) before its first record.
class OriginsAhead final : public Tee {
public:
    OriginsAhead(SessionSink& sink, FirstClocks first) : Tee(sink), first_(std::move(first)) {}

    void on_session(const HelloInfo& hello) override {
        Tee::on_session(hello);
        // The file may have grown since it was read first.
        if (next_ < first_.clocks().size() && first_.clocks()[next_])
            on_origin(*first_.clocks()[next_]);
        ++next_;
    }

private:
    FirstClocks first_;
    std::size_t next_ = 0;
};

}  // namespace nopscope::host
