// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/selftest/capture.hpp"

#include <cstdio>
#include <cstring>

#include "tests/firmware/selftest/tracing.hpp"
#include "tracer/core/cores.hpp"
#include "tracer/protocol/trace_group.hpp"

namespace nopscope::selftest {

namespace {

std::uint8_t line[1 << 20];
std::size_t line_size = 0;
bool line_shut = false;
void (*run_on_byte)() = nullptr;
protocol::Event events[32768];
protocol::TraceDecoder decoders[NOPSCOPE_CORES];
std::uint16_t session = 0;
const std::uint8_t* fed = nullptr;
const std::uint8_t* fed_end = nullptr;

bool give(std::uint8_t& byte) {
    if (line_is_fed()) return false;
    byte = *fed;
    __atomic_store_n(&fed, fed + 1, __ATOMIC_RELEASE);
    return true;
}

bool take(std::uint8_t byte) {
    if (line_shut || line_size == sizeof line) return false;
    if (run_on_byte != nullptr) run_on_byte();
    line[line_size++] = byte;
    return true;
}

constexpr std::uint32_t end_mark = 0x1abcdef;

void collect(std::span<std::uint8_t> chunk, std::size_t& count, Recording& recording) {
    const protocol::ParsedFrame frame = protocol::parse_frame(chunk.data(), chunk.size());
    if (frame.ok) session = frame.header.session;
    if (!frame.ok) {
        recording.well_formed = false;
    } else if (frame.header.stream == protocol::Stream::reply) {
        protocol::Reply reply;
        recording.well_formed &= protocol::read_reply(frame.payload, frame.payload_bytes, reply);
        const auto answer = static_cast<unsigned>(reply.answer);
        if (answer < protocol::answer_count) ++recording.answers[answer];
    } else if (frame.header.stream == protocol::Stream::stats) {
        protocol::Stats stats;
        recording.well_formed &= protocol::read_stats(frame.payload, frame.payload_bytes, stats);
        // A periodic one may follow the final one while pump() empties the ring.
        if (recording.stats.final == 0) recording.stats = stats;
    } else if (frame.header.stream == protocol::Stream::trace) {
        protocol::TraceDecoder& decoder = decoders[frame.header.core];
        recording.well_formed &= decoder.open(frame.payload, frame.payload_bytes) ==
                                 protocol::TraceDecoder::Opened::ready;
        std::uint64_t index = decoder.next_index();
        recording.well_formed &= decoder.read([&](protocol::Record record, std::uint64_t clock) {
            const protocol::Event event = protocol::event_of({record, clock}, index++);
            const bool own = (event.kind == protocol::Kind::extended &&
                              event.extended <= protocol::Extended::tracer_end) ||
                             (is(event, protocol::Extended::marker) && event.argument == end_mark);
            recording.brackets +=
                is(event, protocol::Extended::tracer_begin) && event.argument != 0;
            if (!own && count < std::size(events)) events[count++] = event;
        });
    }
}

// Decodes all frames on the line and empties it.
Recording collect() {
    Recording recording{.events = {}, .stats = {}, .well_formed = true};
    std::size_t count = 0;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < line_size; ++at) {
        if (line[at] != 0) continue;
        collect({line + begin, line + at}, count, recording);
        begin = at + 1;
    }
    line_size = 0;
    recording.events = {events, count};
    return recording;
}

}  // namespace

std::uint16_t captured_session() { return session; }
void feed_line(std::span<const std::uint8_t> bytes) {
    fed_end = bytes.data() + bytes.size();
    __atomic_store_n(&fed, bytes.data(), __ATOMIC_RELEASE);
}
bool line_is_fed() { return __atomic_load_n(&fed, __ATOMIC_ACQUIRE) == fed_end; }
void pump_out() {
    snapshot(end_mark);
    pump();
}

void on_line_byte(void (*run)()) { run_on_byte = run; }
void shut_line(bool shut) { line_shut = shut; }
void fill_ring() {
    const Core& core = core_states[hal::this_core()];
    while (__atomic_load_n(&core.cursor, __ATOMIC_RELAXED) < core.limit) mark(1);
}

bool popped_frames_are_free() {
#ifndef NOPSCOPE_DEFERS
    const Core& core = core_states[hal::this_core()];
    for (auto* frame = reinterpret_cast<const ShadowFrame*>(core.top);
         frame < reinterpret_cast<const ShadowFrame*>(core.frames_end); ++frame)
        if (frame->sp != free_frame_sp) return false;
#endif
    return true;
}

bool tracer_is_up() {
    static const Status status =
        init({.image = "selftest",
              .board = hal::board_name(),
              .clock_hz = hal::clock_hz(),
              .cores = NOPSCOPE_CORES,
              .output = {take, [] {}},
              .input = {.try_read = give, .interrupted_pc = hal::interrupted_pc},
              .stack_low = hal::stack_bounds().low,
              .stack_high = hal::stack_bounds().high,
              .recorder = Recorder::function,
              .trace = Sites::of(both),  // from the first instruction after init()
              .except = caller_only,
              .profile_memory = image::profile_memory(NOPSCOPE_CORES),
              .interrupt_depth = hal::interrupt_depth_of,
              .panic = hal::panic});
    return status == Status::ok;
}

namespace {

bool checks = false;
Counters at_begin;

// Detaches the ops that are left on a site.
bool detach_all(std::uint32_t site) {
    Ops* left = nullptr;
    do {
        left = nullptr;
        for_each_ops(
            site, [](Ops& ops, void* last) { *static_cast<Ops**>(last) = &ops; },
            static_cast<void*>(&left));
    } while (left != nullptr && is_ok(detach(*left)));
    return left == nullptr;
}
bool destroyed(Context& context) {
    return context.frames == nullptr || is_ok(context_destroy(context));
}

}  // namespace

bool nothing_traced() {
    checks = tracer_is_up();
    return checks && nothing_left();
}
bool only_traced(Recorder recorder, const Sites& sites) {
    return nothing_traced() && is_ok(enable(recorder, sites));
}
bool nothing_left() {
    if (!checks) return true;
    start();
    set_min_duration(0);
    set_max_depth(0);
    set_sample(1);
    bool all = is_ok(disable(Sites::all())) && is_ok(count_events({}));
    if (counters().enabled != 0) all = is_ok(trace_everywhere()) && all;
    for (std::uint32_t site = 0; counters().enabled != 0 && site < site_count(); ++site)
        all = detach_all(site) && all;
    for (Context* one : {&tasks[0].context, &tasks[1].context, &other.context})
        all = destroyed(*one) && all;
    at_begin = counters();
    return all && at_begin.enabled == 0 && hooked_return_address(0) == 0;
}
std::uint64_t grown(std::uint64_t Counters::*counter) {
    return counters().*counter - at_begin.*counter;
}

std::uint32_t index_of(const void* function) {
    return lookup(hal::address_of(function)).value_or(~0u);
}

bool joined_here() {
    const hal::StackBounds stack = hal::stack_bounds(hal::this_core());
    const Status status = join(stack.low, stack.high);
    return status == Status::ok || status == Status::already_initialised;
}

Recording record(void (*run)()) {
    pump_out();
    (void)collect();  // record() returns only later records
    run();
    pump_out();
    return collect();
}

namespace {

const char* name_at(std::uint64_t offset) {
    static const struct {
        const void* function;
        const char* name;
    } names[] = {{pointer(leaf), "leaf"},     {pointer(calls_leaf), "calls_leaf"},
                 {pointer(sum_to), "sum_to"}, {pointer(tail_calls_leaf), "tail_calls_leaf"},
                 {pointer(throws), "throws"}, {pointer(catches), "catches"},
                 {pointer(masks), "masks"},   {pointer(calls_back), "calls_back"}};
    for (const auto& one : names) {
        if (hal::address_of(__text_start) + offset == hal::address_of(one.function))
            return one.name;
    }
    return "?";
}

// Writes a recording's events as text.
class Text {
public:
    explicit Text(std::span<const protocol::Event> events) : events_(events) {
        for (; at_ < events.size() && length_ < sizeof text_ - 256; ++at_) write(events[at_]);
    }
    const char* text() const { return text_; }

private:
    template <typename... Values>
    void print(const char* format, Values... values) {
        const int added = std::snprintf(text_ + length_, sizeof text_ - length_, format, values...);
        length_ += static_cast<std::size_t>(added);
    }
    std::uint64_t data() {
        ++at_;
        return at_ < events_.size() && is(events_[at_], protocol::Extended::data)
                   ? events_[at_].data
                   : ~std::uint64_t{0};
    }
    void value(bool wide) {
        const std::uint64_t low = data();
        const std::uint64_t value =
            wide ? protocol::wide_value(low, data()) : protocol::narrow_value(low);
        print(" %llx", static_cast<unsigned long long>(value));
    }
    const char* site() { return name_at(data() << 3); }
    void open(const protocol::Event& event) {
        print("(");
        open_[depth_++ % 64] = static_cast<std::uint32_t>(event.index) & protocol::entry_index_mask;
    }
    void close(const protocol::Event& event) {
        unsigned out = 1;
        while (out < depth_ && open_[depth_ - out] != event.entry_index) ++out;
        if (depth_ == 0 || open_[depth_ - out] != event.entry_index) return print("?");
        print(event.unwound ? "~" : ")");
        if (out > 1) print("%u", out);
        for (--depth_; --out > 0;) open_[depth_ - out] = open_[depth_ - out + 1];
    }
    void write(const protocol::Event& event) {
        using protocol::Extended;
        const unsigned argument = event.argument;
        if (event.kind == protocol::Kind::ret) return close(event);
        if (event.kind != protocol::Kind::extended) {
            print("%s", name_at(event.site_offset));
            if (event.kind == protocol::Kind::entry) open(event);
            return;
        }
        switch (event.extended) {
        case Extended::context: return print("c");
        case Extended::marker: return print("m%u", argument);
        case Extended::interrupt: print("%u", argument); return open(event);
        case Extended::duration: print("%s/%u", site(), argument); return (void)data();
        case Extended::arguments:
            print("[%x %s", argument, site());
            for (unsigned n = 0; n < 8; ++n) {
                if ((argument >> n & 1) != 0) value((argument >> (8 + n) & 1) != 0);
            }
            return print("]");
        case Extended::result:
            print("{%u %s", argument, site());
            value(argument != 0);
            return print("}");
        case Extended::counter: print("#%x", argument); return value((argument & 1) != 0);
        case Extended::events: {
            const bool is_its = at_ > 0 && events_[at_ - 1].clock == event.clock;
            print(is_its ? "<%lu" : "?%lu", data());
            if (protocol::event_count(argument) == 2) print(" %lu", data());
            return print(">");
        }
        case Extended::masked: at_ += 2; return;
        case Extended::task:
            return print(argument == left_argument(protocol::Left::gave_way) ? "g" : "?");
        default: return print("?");
        }
    }

    char text_[1024] = {};
    std::size_t length_ = 0;
    std::span<const protocol::Event> events_;
    std::size_t at_ = 0;
    std::uint32_t open_[64];
    unsigned depth_ = 0;
};

}  // namespace

bool Recording::reads(const char* expected) const {
    const Text text(events);
    if (well_formed && std::strcmp(text.text(), expected) == 0) return true;
    std::printf("reads: %s\n", text.text());
    return false;
}

bool is_of(const protocol::Event& event, const void* function) {
    return (event.kind == protocol::Kind::entry || event.kind == protocol::Kind::call) &&
           hal::address_of(__text_start) + event.site_offset == hal::address_of(function);
}

}  // namespace nopscope::selftest
