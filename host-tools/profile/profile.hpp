// SPDX-License-Identifier: Apache-2.0
// A recording's bytes in, its profile out: the whole of decode and aggregate, streaming.
//
// Everything is kept in ticks and by site offset; names and nanoseconds are the report's. A
// function's total counts time once however often it is on the stack: a call adds to what the total
// was when the call began, so an outer call takes the place of the inner ones'.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "host-tools/line/session.hpp"
#include "host-tools/profile/call_decoder.hpp"
#include "host-tools/profile/call_tree.hpp"
#include "host-tools/profile/function_table.hpp"
#include "host-tools/profile/moved_functions.hpp"
#include "host-tools/profile/target_profile.hpp"

namespace nopscope {

struct FunctionTimes {
    std::uint64_t calls = 0;
    std::uint64_t total_ticks = 0;
    std::uint64_t self_ticks = 0;
    std::uint64_t min_ticks = ~std::uint64_t{0};  // of `timed` calls
    std::uint64_t max_ticks = 0;
    std::uint64_t timed = 0;  // returned or unwound, with no gap inside
    std::uint64_t open = 0;   // not over when their session ended
    std::uint64_t lost = 0;   // ended inside a gap
    std::uint64_t unwound = 0;
    std::uint64_t incomplete = 0;  // a gap lies inside
};

// A point in time that the firmware, or a trigger of it, has marked.
struct Marker {
    static constexpr std::uint32_t in_nothing = ~std::uint32_t{0};

    std::uint64_t ticks = 0;  // since the session's first event
    std::uint32_t id = 0;
    std::uint32_t function = in_nothing;  // number of the innermost open call's
    std::uint32_t core = 0;
    std::uint32_t context = 0;
    std::uint64_t session = 0;
};

// Records and calls of a core that are not in the recording.
struct Missing {
    MissingPart part;  // `from` and `to`: ticks since the session's first event
    unsigned core = 0;
    std::uint64_t session = 0;
};

class Profile final : public SessionSink {
public:
    Profile() : reader_(*this) {}

    void feed(std::span<const std::uint8_t> bytes) { reader_.feed(bytes); }
    // The recording is over. Once; nothing is fed after.
    void finish();

    const SessionReader& reader() const { return reader_; }
    // Of the first session whose hello could be read.
    const std::optional<HelloInfo>& hello() const { return hello_; }
    const FunctionTable& functions() const { return functions_; }
    // By function number, all cores and sessions.
    std::vector<FunctionTimes> times() const;
    const CallTree& tree() const { return tree_; }
    const TargetProfile& on_target() const { return on_target_; }
    const MovedFunctions& moved() const { return moved_; }
    const DecoderCounters& decoder() const { return decoder_; }
    // In the order of the recording; those beyond max_markers are left out.
    static constexpr std::size_t max_markers = std::size_t{1} << 16;
    const std::vector<Marker>& markers() const { return markers_; }
    // In the order in which it was noticed; parts beyond max_missing are only in the counters.
    static constexpr std::size_t max_missing = std::size_t{1} << 16;
    const std::vector<Missing>& missing() const { return missing_; }
    std::uint64_t tracer_ticks() const { return tracer_ticks_; }
    std::uint64_t duration_ticks() const { return duration_ticks_; }  // first to last event

    // For SessionReader.
    void on_session(const HelloInfo& hello) override;
    void on_session_end() override;
    void on_trace(unsigned core, const TraceBatch& batch) override;
    void on_missing(unsigned core, const MissingPart& part) override;
    bool on_profile(unsigned core, const std::uint8_t* payload, std::size_t count) override {
        return on_target_.on_frame(core, payload, count);
    }
    bool on_moved(const std::uint8_t* payload, std::size_t count) override {
        return moved_.on_frame(payload, count);
    }

private:
    // The share of one context of a core: what CallDecoder reports to.
    struct Context {
        Context(Profile& profile, std::uint32_t its_number)
            : number(its_number), profile_(profile), decoder(*this) {}

        std::uint32_t function(std::uint32_t offset) {
            const std::uint32_t index = profile_.functions_.number(offset);
            if (index >= times.size()) [[unlikely]]
                times.resize(index + 1);
            return index;
        }
        std::uint32_t node(std::uint32_t parent, std::uint32_t function) {
            return profile_.tree_.child(parent, function);
        }
        std::uint32_t gap_node() const { return CallTree::after_gap; }
        std::uint64_t total_of(std::uint32_t function) const { return times[function].total_ticks; }
        void called(std::uint32_t function, std::uint32_t node) {
            ++times[function].calls;
            ++profile_.tree_[node].calls;
        }
        void passed(std::uint32_t function, std::uint32_t node) {
            called(function, node);
            ++profile_.tree_[node].points;
        }
        void closed(const OpenCall& call, const ClosedCall& result);

        std::uint32_t number;
        Profile& profile_;
        std::vector<FunctionTimes> times;
        CallDecoder<Context> decoder;
        Ticks left_at = 0;  // the core's tracer_ticks then
        Ticks counted = 0;  // of the decoder's tracer ticks, in the core's
    };

    // One core: its contexts, of which one runs.
    struct Core {
        Core(Profile& profile, unsigned its_number) : profile_(profile), number(its_number) {
            current = &context(0);
        }

        Context& context(std::uint32_t number);
        void enter(Context& to, std::uint64_t clock);
        void on_event(const wire::Event& event);
        void on_gap();
        void finish();

        static constexpr std::size_t max_contexts = 1024;

        Profile& profile_;
        unsigned number;
        std::vector<std::unique_ptr<Context>> contexts;
        Context* current = nullptr;
        std::uint64_t last_clock = 0;  // of the last event
        Ticks tracer_ticks = 0;  // of the contexts that were left
    };
    template <typename Visit>
    void for_each_context(Visit visit) const {
        for (const auto& core : cores_) {
            if (!core) continue;
            for (const auto& context : core->contexts) visit(*context);
        }
    }

    SessionReader reader_;
    std::optional<HelloInfo> hello_;
    FunctionTable functions_;
    CallTree tree_;
    TargetProfile on_target_;
    MovedFunctions moved_;
    std::array<std::unique_ptr<Core>, 256> cores_;
    DecoderCounters decoder_;
    std::vector<Marker> markers_;
    std::vector<Missing> missing_;
    std::size_t missing_before_ = 0;  // likewise
    std::size_t markers_before_ = 0;  // of sessions that are over
    std::uint64_t sessions_ = 0;      // that are over
    std::uint64_t tracer_ticks_ = 0;
    std::uint64_t duration_ticks_ = 0;
};

}  // namespace nopscope
