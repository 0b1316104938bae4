// SPDX-License-Identifier: Apache-2.0
// Passes a session on so that a task's records come in their order, also when the task has moved to
// another core (docs/trace-format.md, "Moves"). Sinks that follow calls stand behind it.
//
// Each core sends its own stream, so the new core's records may arrive before those of the old one.
// A core waits at the `context` record of such a task until the old core's stream has come as far
// as its `moved` record says. Meanwhile the core's batches and missing parts queue up; everything
// else passes at once. A sink gets a `context` record and the `moved` record behind it without
// another record of any core in between.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "host-tools/line/stream/tee.hpp"

namespace nopscope::host {

class MovesInOrder final : public Tee {
public:
    // Records that may wait, of all cores together: 16 MiB, about a second of a fast line. A target
    // sends its cores in turn, so a longer wait means that the other core's records will not come.
    static constexpr std::size_t default_most_waiting = std::size_t{1} << 20;

    explicit MovesInOrder(SessionSink& sink, std::size_t most_waiting = default_most_waiting)
        : Tee(sink), most_waiting_(most_waiting) {}

    // The context that the core's last waiting records are of; nothing: the sinks know it.
    std::optional<std::uint32_t> waiting_context(unsigned core) const;

    void on_session(const HelloInfo& hello) override;
    void on_session_end() override;
    void on_trace(unsigned core, const TraceBatch& batch) override;
    void on_missing(unsigned core, const MissingPart& part) override;
    void on_stats(unsigned core, const protocol::Stats& stats) override;

private:
    using Records = std::span<const protocol::StampedRecord>;

    // Records without a gap between them, or a missing part.
    struct Waiting {
        TraceBatch batch;  // without its records
        std::vector<protocol::StampedRecord> records;
        std::size_t passed = 0;  // of `records`
        std::optional<MissingPart> missing;

        Records left() const { return Records(records).subspan(passed); }
    };
    struct Core {
        std::uint64_t next_index = 0;  // of the record that the sinks get next
        std::uint32_t context = 0;     // that the core runs, as the sinks know it
        unsigned stats = 0;            // frames since its last record
        bool has_no_more = false;      // these say so
        std::deque<Waiting> waiting;
        std::uint64_t waits_since = 0;  // smaller: began to wait earlier
    };

    Core& core(unsigned number);
    bool has_come(unsigned number, std::uint32_t context, std::uint64_t moved) const;
    std::size_t ready(unsigned number, Records records, bool is_last) const;
    void pass(unsigned number, const TraceBatch& batch);
    void pass_some(unsigned number, Waiting& first, std::size_t count);
    void wait(Core& core, const TraceBatch& batch);
    bool pass_ready(unsigned number);
    void pass_all_ready();
    void pass_oldest();
    void pass_everything();

    std::size_t most_waiting_;
    std::size_t waiting_ = 0;  // records and other items
    std::uint64_t waits_ = 0;
    bool has_several_cores_ = false;
    bool is_over_ = false;  // the session ends: nothing follows
    std::array<std::unique_ptr<Core>, 256> cores_;
};

}  // namespace nopscope::host
