// SPDX-License-Identifier: Apache-2.0
// Perfetto's TracePacket protobuf. A core is a packet sequence. It interns its names, and has its
// own clock with relative timestamps. A context is a thread, and a core's lane shows which one
// runs. Counters, samples, missing parts, masked interrupts, and calls from duration records have
// their own tracks. The console is a log.
//
// A core's last event waits for its captured values and counted events, which become annotations.
//
// Perfetto's importer keeps 512 slices open on a track (kMaxDepth). It drops the begin of a deeper
// slice, but not its end; instants of one time nest, too. So a child track has the next 512 levels.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host-tools/base/text.hpp"
#include "host-tools/figures/profile/captured.hpp"
#include "host-tools/image/arch/pmu_events.hpp"
#include "host-tools/views/export/formats.hpp"
#include "host-tools/views/export/lanes.hpp"
#include "host-tools/views/export/packet_file.hpp"
#include "host-tools/views/export/perfetto_packets.hpp"

namespace nopscope::host {
namespace {

using namespace perfetto;

enum Type : std::uint32_t { none = 0, begin = 1, end = 2, instant = 3, counter_type = 4 };

class Perfetto : public EventSink {
public:
    Perfetto(const Output& output, TimeAxis axis) : file_(output), times_(times_text(axis)) {}

    void on_shown_part(const std::string& part) override { part_ = to_utf8(part); }
    void on_target(const HelloInfo& hello) override {
        if (std::exchange(has_session_, true)) return;
        packet(root_packet());
        packet(process_packet(hello, times_, part_));
        packet(attributes_packet(hello, times_, part_));
    }
    void on_function(std::uint32_t number, const FunctionPlace& place) override {
        functions_[number] = {to_utf8(without_nul(place.name)), to_utf8(without_nul(place.file)),
                              place.line, category_of(number, place)};
    }
    void on_track(const Track& track) override {
        if (track.core >= cores_.size()) cores_.resize(track.core + 1);
        stacks_.emplace_back();
        packet(thread_packet(track));
    }
    bool wants_tasks() const override { return true; }
    void on_switch(const CoreSwitch& to) override {
        lanes_.on_switch(to, [this](const CoreSwitch& shown, TaskState left) {
            if (shown.core >= running_.size()) running_.resize(shown.core + 1, no_track);
            const std::uint32_t ran = std::exchange(running_[shown.core], no_track);
            if (shown.from && shown.from->number == ran)
                packet(state_packet(*shown.from, value_of(left, states), shown.at));
            // Perfetto would take a task that runs again after its end for another one.
            if (!shown.to || lanes_.has_ended(*shown.to)) return;
            packet(state_packet(*shown.to, KernelState::running, shown.at));
            running_[shown.core] = shown.to->number;
        });
    }
    // Perfetto would end the slice of a task that runs on this core.
    void on_ready(const Track& by, const Track& task, Nanoseconds now) override {
        lanes_.on_ready(task);
        if (by.core < running_.size() && running_[by.core] == task.number) return;
        Track on_core = task;
        on_core.core = by.core;
        packet(state_packet(on_core, KernelState::runnable, now));
    }

    void entry(const Track& track, std::uint32_t function, Nanoseconds now) override {
        Stack& stack = stacks_[track.number];
        named(track, level(track, stack.calls.size()), function, now, Type::begin);
        stack.calls.push_back(function);
        stack.instants = 0;
    }
    void leave(const Track& track, const EndedCall& call) override {
        Stack& stack = stacks_[track.number];
        stack.instants = 0;
        Core& core = started(track, call.to);
        stack.calls.pop_back();
        hold(core, track, level(track, call.depth), call.function, call.to, Type::end);
        if (!stack.end_values.empty()) [[unlikely]]
            core.held.annotations = stack.take_end_values();
        if (call.how == Left::returned) return;
        Proto left;
        left.bytes(annotation::name, "left").bytes(annotation::string_value, left_text(call.how));
        core.held.annotations += Proto().message(event::annotations, left).text();
    }
    void point(const Track& track, std::uint32_t function, Nanoseconds now) override {
        named(track, instant_on(track, now), function, now, Type::instant);
    }
    void whole(const Track& track, std::uint32_t function, Nanoseconds from, Nanoseconds to,
               std::uint32_t depth) override {
        const std::uint64_t on =
            described(uuid(whole_kind, std::uint64_t{track.number} << 16 | (depth & 0xffff)),
                      fmt::format("{}: told whole, depth {}", track_name(track), depth));
        slice(track.core, on, from, to, function_fields(function, "call"));
    }
    void masked(const Track& track, std::uint32_t function, Nanoseconds from,
                Nanoseconds to) override {
        const std::uint64_t on = described(uuid(masked_kind, track.core),
                                           fmt::format("core {}: interrupts masked", track.core));
        slice(track.core, on, from, to, function_fields(function, "irq"));
    }
    void absence(std::uint32_t core, const Absence& absence) override {
        const bool is_drop = absence.lost == 0 && absence.overwritten == 0;
        const std::uint64_t on =
            described(uuid(missing_kind, 2 * core + (is_drop ? 1 : 0)),
                      fmt::format("core {}: {}", core, is_drop ? "dropped" : "lost"));
        Proto of = Proto().bytes(event::name, "gap");
        for (const auto& [name, count] : {std::pair{"lost", absence.lost},
                                          {"overwritten", absence.overwritten},
                                          {"dropped", absence.dropped}})
            of.add(annotation_of(name, Proto().number(annotation::uint_value, count)));
        slice(core, on, absence.from, absence.to, of);
    }
    void mark(const Track& track, std::uint32_t id, Nanoseconds now) override {
        at(track.core, now,
           event_on(instant_on(track, now), Type::instant)
               .bytes(event::name, fmt::format("mark {}", id)));
    }
    void counter(const Track& track, std::uint32_t id, std::int64_t value,
                 Nanoseconds now) override {
        const std::uint64_t on =
            described(uuid(counter_kind, id), fmt::format("counter {}", id), true);
        at(track.core, now, event_on(on, Type::counter_type).integer(event::counter_value, value));
    }
    void value(const Track& track, const CapturedValue& captured, Nanoseconds now) override {
        const Proto said = annotation_of(captured.name, captured.value);
        if (annotate_open(track, captured.function, said)) return;
        instant_of(track, captured.function, captured.name, said, now);
    }
    void events(const Track& track, std::uint32_t function, std::span<const EventCount> counts,
                Nanoseconds now) override {
        for (const EventCount& one : counts) {
            const std::string name = event_name(one.number);
            const Proto said = annotation_of(name, static_cast<std::int64_t>(one.count));
            Held& held = cores_[track.core].held;
            if (held.type == Type::end && held.track == track.number) {
                held.annotations += said.text();
            } else {
                instant_of(track, function, name, said, now);
            }
        }
    }
    void sample(const Track& track, std::span<const std::uint32_t> path, Nanoseconds now) override {
        const std::uint64_t on =
            described(uuid(samples_kind, track.core), fmt::format("core {}: samples", track.core));
        Proto stack;
        for (const std::uint32_t function : path) {
            const Function& of = functions_[function];
            Proto frame;
            frame.bytes(callstack::function, of.name);
            if (!of.file.empty())
                frame.bytes(callstack::file, of.file).number(callstack::line, of.line);
            stack.message(callstack::frames, frame);
        }
        at(track.core, now,
           event_on(on, Type::instant)
               .bytes(event::name, path.empty() ? "sample" : functions_[path.back()].name)
               .message(event::callstack, stack));
    }
    void console(std::string_view bytes, Nanoseconds now) override {
        // A log's times are the host's. Without a clock pair, the target's clock counts from 1970.
        if (!has_real_time_) time_pair({.time = now, .utc_ns = now});
        packet(log_packet(to_utf8(without_nul(bytes)), now + utc_minus_time_));
    }
    void time_pair(const TimePair& pair) override {
        has_real_time_ = true;
        utc_minus_time_ = pair.utc_ns - pair.time;
        packet(clocks_packet(pair));
    }
    void finish() override {
        for (std::uint32_t core = 0; core < cores_.size(); ++core) release(core);
        file_.close();
    }

private:
    struct Function {
        std::string name;
        std::string file;
        std::uint32_t line = 0;
        Category category{};
    };
    struct Stack {
        // Annotations of an open call that came after its begin was written.
        struct EndValues {
            std::size_t calls_around = 0;
            std::string fields;
        };
        std::vector<std::uint32_t> calls;   // the open ones: functions
        std::vector<EndValues> end_values;  // of some open calls
        std::size_t levels = 1;             // number of described tracks
        std::size_t instants = 0;           // of time `at`, since the last begin or end
        Nanoseconds at = 0;

        std::string& innermost_end_values() {
            if (end_values.empty() || end_values.back().calls_around + 1 != calls.size())
                end_values.push_back({calls.size() - 1, {}});
            return end_values.back().fields;
        }
        // Of the call that was taken from `calls`.
        std::string take_end_values() {
            if (end_values.empty() || end_values.back().calls_around != calls.size()) return {};
            std::string fields = std::move(end_values.back().fields);
            end_values.pop_back();
            return fields;
        }
    };
    // An event of a call that is not yet written.
    struct Held {
        Type type = Type::none;
        std::uint32_t track = 0;
        std::uint32_t function = 0;
        Nanoseconds now = 0;
        std::uint64_t on = 0;     // the identifier of the event's track
        std::string annotations;  // as fields of the event
    };
    struct Core {
        bool started = false;
        Held held;
        Nanoseconds last = 0;  // by its own clock
        std::uint64_t default_track = 0;
        std::vector<std::string> interned;  // by function's number: the event fields that name it
        std::unordered_map<std::uint32_t, std::string> interned_others;  // not the firmware's sites

        std::string& naming(std::uint32_t function) {
            if (function >= first_own_function) [[unlikely]]
                return interned_others[function];
            if (function >= interned.size()) [[unlikely]]
                interned.resize(2 * std::size_t{function} + 64);
            return interned[function];
        }
    };
    static constexpr std::uint32_t no_track = ~0u;
    static constexpr std::size_t most_held = std::size_t{1} << 12;  // bytes of annotations

    static constexpr KernelState states[] = {KernelState::runnable, KernelState::sleeping,
                                             KernelState::stopped, KernelState::dead};
    void packet(const Proto& content) { file_.add({}, content.text(), {}); }
    static Proto event_on(std::uint64_t track, Type type) {
        return Proto().number(event::type, type).number(event::track_uuid, track);
    }
    // A rare event, by the common clock.
    void at(std::uint32_t core, Nanoseconds when, const Proto& of) {
        if (core < cores_.size()) release(core);
        packet(Proto()
                   .number(packet::timestamp, when)
                   .number(packet::timestamp_clock_id, boot_time)
                   .number(packet::sequence_id, others_sequence)
                   .message(packet::track_event, of));
    }
    void slice(std::uint32_t core, std::uint64_t on, Nanoseconds from, Nanoseconds to,
               const Proto& what) {
        Proto of = event_on(on, Type::begin);
        at(core, from, of.add(what));
        at(core, to, event_on(on, Type::end));
    }
    Proto function_fields(std::uint32_t function, std::string_view category) const {
        return Proto()
            .bytes(event::name, functions_.at(function).name)
            .bytes(event::categories, category);
    }
    static Proto annotation_of(std::string_view name, const Proto& value) {
        return Proto().message(event::annotations,
                               Proto().bytes(annotation::name, name).add(value));
    }
    static Proto annotation_of(std::string_view name, std::int64_t value) {
        return annotation_of(name, Proto().integer(annotation::int_value, value));
    }
    // Adds `said` to the begin of the innermost call of `function`, or to its end if the begin is
    // written. Returns false if the innermost call is of another function.
    bool annotate_open(const Track& track, std::uint32_t function, const Proto& said) {
        Held& held = cores_[track.core].held;
        Stack& stack = stacks_[track.number];
        const bool is_held = held.type == Type::begin || held.type == Type::instant;
        std::string* to = nullptr;
        if (is_held && held.track == track.number && held.function == function) {
            to = &held.annotations;
        } else if (!stack.calls.empty() && stack.calls.back() == function) {
            to = &stack.innermost_end_values();
        }
        if (to == nullptr || to->size() > most_held) return false;
        *to += said.text();
        return true;
    }
    void instant_of(const Track& track, std::uint32_t function, const std::string& what,
                    const Proto& said, Nanoseconds now) {
        Proto of = event_on(instant_on(track, now), Type::instant);
        of.bytes(event::name, functions_[function].name + " " + what);
        at(track.core, now, of.add(said));
    }
    // Returns the track, after its description if it has none yet.
    std::uint64_t described(std::uint64_t track, std::string_view name, bool is_counter = false) {
        if (!described_.insert(track).second) return track;
        write_track(others_sequence, track, process_uuid, name,
                    is_counter ? Proto().message(descriptor::counter, {}) : Proto());
        return track;
    }
    void write_track(std::uint32_t sequence, std::uint64_t track, std::uint64_t parent,
                     std::string_view name, const Proto& more = {}) {
        Proto of;
        of.number(descriptor::uuid, track).number(descriptor::parent, parent);
        of.bytes(descriptor::name, name).add(more);
        packet(Proto().number(packet::sequence_id, sequence).message(packet::track_descriptor, of));
    }

    std::uint64_t level(const Track& track, std::size_t depth) {
        if (depth < max_depth) [[likely]]
            return context_uuid(track);
        return deeper(track, std::min<std::size_t>(depth / max_depth, 0xffff));
    }
    [[gnu::noinline]] std::uint64_t deeper(const Track& track, std::size_t level) {
        for (std::size_t& levels = stacks_[track.number].levels; levels <= level; ++levels) {
            write_track(track.core + 1, context_uuid(track, levels),
                        context_uuid(track, levels - 1),
                        fmt::format("from depth {} on", levels * max_depth));
        }
        return context_uuid(track, level);
    }
    // The track of an instant. Perfetto nests it inside the other instants of the same time.
    std::uint64_t instant_on(const Track& track, Nanoseconds now) {
        Stack& stack = stacks_[track.number];
        if (std::exchange(stack.at, now) != now) stack.instants = 0;
        return level(track, stack.calls.size() + stack.instants++);
    }

    Core& started(const Track& track, Nanoseconds now) {
        Core& core = cores_[track.core];
        if (!core.started) [[unlikely]]
            begin_sequence(core, track, now);
        return core;
    }
    void begin_sequence(Core& core, const Track& track, Nanoseconds now) {
        core.started = true;
        core.last = now;
        core.default_track = context_uuid(track);
        packet(sequence_packet(track, now));
    }

    void hold(Core& core, const Track& track, std::uint64_t on, std::uint32_t function,
              Nanoseconds now, Type type) {
        release(track.core);
        Held& held = core.held;
        held.type = type;
        held.track = track.number;
        held.function = function;
        held.now = now;
        held.on = on;
    }
    // Writes the core's held event.
    void release(std::uint32_t number) {
        Core& core = cores_[number];
        Held& held = core.held;
        const Type type = std::exchange(held.type, Type::none);
        if (type == Type::none) return;
        char on[11];
        char* end = on;
        if (held.on != core.default_track) [[unlikely]] {
            *end++ = static_cast<char>(number_tag(event::track_uuid));
            end = put_varint(end, held.on);
        }
        const std::string_view naming =
            type == Type::end ? std::string_view() : core.naming(held.function);
        const auto bytes = static_cast<std::size_t>(2 + (end - on));
        PacketFile::Begin begin;
        char* to = begin.bytes;
        *to++ = static_cast<char>(number_tag(packet::timestamp));
        to = put_varint(to, held.now - std::exchange(core.last, held.now));
        *to++ = static_cast<char>(number_tag(packet::sequence_id));
        to = put_varint(to, number + 1);
        *to++ = static_cast<char>(number_tag(packet::sequence_flags));
        *to++ = needs_state;
        *to++ = static_cast<char>(bytes_tag(packet::track_event));
        to = put_varint(to, bytes + naming.size() + held.annotations.size());
        *to++ = static_cast<char>(number_tag(event::type));
        *to++ = static_cast<char>(type);
        if (end != on) [[unlikely]]
            to = std::copy(on, end, to);
        begin.size = static_cast<std::size_t>(to - begin.bytes);
        file_.add(begin, naming, held.annotations);
        held.annotations.clear();
    }
    void named(const Track& track, std::uint64_t on, std::uint32_t function, Nanoseconds now,
               Type type) {
        Core& core = started(track, now);
        if (core.naming(function).empty()) [[unlikely]]
            intern(core, track, function);
        hold(core, track, on, function, now, type);
    }
    void intern(Core& core, const Track& track, std::uint32_t function) {
        const Function& of = functions_[function];
        const std::uint64_t iid = std::uint64_t{function} + 1;
        Proto data;
        data.message(interned::event_names,
                     Proto().number(interned::iid, iid).bytes(interned::name, of.name));
        Proto naming;
        naming.number(event::category_iids, of.category).number(event::name_iid, iid);
        if (!of.file.empty()) {
            data.message(interned::source_locations, Proto()
                                                         .number(location::iid, iid)
                                                         .bytes(location::file, of.file)
                                                         .bytes(location::function, of.name)
                                                         .number(location::line, of.line));
            naming.number(event::location_iid, iid);
        }
        packet(Proto()
                   .number(packet::sequence_id, track.core + 1)
                   .number(packet::sequence_flags, needs_state)
                   .message(packet::interned_data, data));
        core.naming(function) = naming.text();
    }
    PacketFile file_;
    std::string times_;
    std::string part_;
    bool has_session_ = false;
    std::unordered_map<std::uint32_t, Function> functions_;
    std::vector<Core> cores_;
    std::vector<Stack> stacks_;  // by track
    Lanes lanes_{true};
    std::vector<std::uint32_t> running_;  // by core: a track
    bool has_real_time_ = false;
    std::uint64_t utc_minus_time_ = 0;
    std::set<std::uint64_t> described_;
};

}  // namespace

std::unique_ptr<EventSink> perfetto_sink(const Output& output, TimeAxis axis) {
    return std::make_unique<Perfetto>(output, axis);
}

}  // namespace nopscope::host
