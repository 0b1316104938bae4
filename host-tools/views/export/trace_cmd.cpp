// SPDX-License-Identifier: Apache-2.0
// trace.dat, version 6 (trace-cmd.dat.v6.5(5)), for `trace-cmd report` and KernelShark: ring-buffer
// pages like those of a Linux kernel's function_graph tracer. A core is a CPU, a context a task.
// Switches of tasks are the scheduler's events.
// Marks, counters, values, the console and gaps are trace_printk events; a page counts its gap.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host-tools/base/text.hpp"
#include "host-tools/image/arch/pmu_events.hpp"
#include "host-tools/views/export/formats.hpp"
#include "host-tools/views/export/lanes.hpp"
#include "host-tools/views/export/little_endian.hpp"
#include "host-tools/views/export/track_files.hpp"

namespace nopscope::host {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t page_header_bytes = 16;
constexpr std::size_t missing_bytes = 8;  // after the events: how many miss before the page
constexpr std::size_t page_room = page_bytes - page_header_bytes - missing_bytes;
constexpr std::uint64_t has_missing = 3u << 30;  // bits of a page's `commit`

// First word of a record: 5 bits (its length in words, or one of these), 27 bits of nanoseconds.
constexpr unsigned time_extend = 30;
constexpr unsigned most_longs = 28;
constexpr unsigned delta_bits = 27;

enum Id : std::uint16_t {
    function_id = 1,
    print_id = 5,
    exit_id = 10,
    entry_id = 11,
    switch_id = 12,
    wakeup_id = 13
};

constexpr char header_page[] =
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
    "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
constexpr char header_event[] =
    "# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray      "
    " :   32 bits\n\n"
    "\tpadding     : type == 29\n\ttime_extend : type == 30\n\ttime_stamp : type == 31\n"
    "\tdata max type_len  == 28\n";

struct Format {
    const char* name;
    Id id;
    const char* fields;
    const char* print;
};
constexpr Format event_formats[] = {
    {"function", function_id,
     "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
     "\tfield:unsigned long parent_ip;\toffset:16;\tsize:8;\tsigned:0;\n",
     "\" %ps <-- %ps\", (void *)REC->ip, (void *)REC->parent_ip"},
    {"funcgraph_entry", entry_id,
     "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
     "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n",
     "\"--> %ps (%d)\", (void *)REC->func, REC->depth"},
    {"funcgraph_exit", exit_id,
     "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
     "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n"
     "\tfield:unsigned int overrun;\toffset:20;\tsize:4;\tsigned:0;\n"
     "\tfield:unsigned long long calltime;\toffset:24;\tsize:8;\tsigned:0;\n"
     "\tfield:unsigned long long rettime;\toffset:32;\tsize:8;\tsigned:0;\n",
     "\"<-- %ps (%d) (start: %llx  end: %llx) over: %d\", (void *)REC->func, REC->depth, "
     "REC->calltime, "
     "REC->rettime, REC->depth"},
    {"print", print_id,
     "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
     "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n",
     "\"%ps: %s\", (void *)REC->ip, REC->buf"},
};

constexpr std::size_t comm_bytes = 32;  // with its zero; the number tells the rest

constexpr Format sched_formats[] = {
    {"sched_switch", switch_id,
     "\tfield:char prev_comm[32];\toffset:8;\tsize:32;\tsigned:0;\n"
     "\tfield:pid_t prev_pid;\toffset:40;\tsize:4;\tsigned:1;\n"
     "\tfield:int prev_prio;\toffset:44;\tsize:4;\tsigned:1;\n"
     "\tfield:long prev_state;\toffset:48;\tsize:8;\tsigned:1;\n"
     "\tfield:char next_comm[32];\toffset:56;\tsize:32;\tsigned:0;\n"
     "\tfield:pid_t next_pid;\toffset:88;\tsize:4;\tsigned:1;\n"
     "\tfield:int next_prio;\toffset:92;\tsize:4;\tsigned:1;\n",
     "\"%s:%d [%d] %ld ==> %s:%d [%d]\", REC->prev_comm, REC->prev_pid, REC->prev_prio, "
     "REC->prev_state, REC->next_comm, REC->next_pid, REC->next_prio"},
    {"sched_wakeup", wakeup_id,
     "\tfield:char comm[32];\toffset:8;\tsize:32;\tsigned:0;\n"
     "\tfield:pid_t pid;\toffset:40;\tsize:4;\tsigned:1;\n"
     "\tfield:int prio;\toffset:44;\tsize:4;\tsigned:1;\n"
     "\tfield:int target_cpu;\toffset:48;\tsize:4;\tsigned:1;\n",
     "\"%s:%d [%d] CPU:%d\", REC->comm, REC->pid, REC->prio, REC->target_cpu"},
};

// As Linux has them: R, S, T, X.
constexpr std::uint64_t state_bits[] = {0, 1, 4, 16};

std::string text_of(const Format& format) {
    return fmt::format(
        "name: {}\nID: {}\nformat:\n"
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
        "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
        "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
        "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n{}\nprint fmt: {}\n",
        format.name, static_cast<unsigned>(format.id), format.fields, format.print);
}

// A name as in kallsyms, where a name ends at a space and `$` begins a mapping symbol.
std::string symbol_of(const std::string& name) {
    std::string text = for_cell(name);
    std::replace(text.begin(), text.end(), ' ', '_');
    return text.empty() || text.front() == '$' ? "_" + text : text;
}

// The current page of a CPU.
struct Page {
    std::string data;
    Nanoseconds begin = 0;
    Nanoseconds last = 0;
    std::uint64_t missing = 0;  // records missing before the page
};

class TraceCmd : public EventSink {
public:
    TraceCmd(const Output& output, TimeAxis axis)
        : file_(output), axis_(axis), pages_(output.path(), pages_name) {}

    bool wants_tasks() const override { return true; }
    void on_switch(const CoreSwitch& to) override {
        lanes_.on_switch(to, [this](const CoreSwitch& shown, TaskState left) {
            add_core(shown.core);
            Record record(switch_id, thread_number(shown.from));
            add_switch(record, shown, value_of(left, state_bits));
            put(shown.core, shown.at, record);
            has_switches_ = true;
        });
    }
    void on_ready(const Track& by, const Track& task, Nanoseconds now) override {
        lanes_.on_ready(task);
        Record record(wakeup_id, thread_number(by));
        add_task(record, task, task.core).add(task.core);
        put(by.core, now, record);
        has_switches_ = true;
    }
    void on_shown_part(const std::string& part) override { part_ = part; }
    void on_function(std::uint32_t number, const FunctionPlace& place) override {
        // An entry that is not a function of the image gets an address below any image.
        const std::uint64_t address = place.address != 0 ? place.address : 16 * ++without_address_;
        addresses_[number] = address;
        symbols_[address] = symbol_of(place.name);
    }
    void on_track(const Track& track) override {
        tracks_.push_back(track);
        depths_.push_back(0);
        add_core(track.core);
    }
    void entry(const Track& track, std::uint32_t function, Nanoseconds now) override {
        Record record(entry_id, track);
        record.add(addresses_[function]);
        record.add(depths_[track.number]++);
        put(track.core, now, record);
    }
    void leave(const Track& track, const EndedCall& call) override {
        depths_[track.number] = call.depth;
        exit(track, call.function, call.from, call.to, call.depth);
    }
    void point(const Track& track, std::uint32_t function, Nanoseconds now) override {
        Record record(function_id, track);
        record.add(addresses_[function]);
        record.add(std::uint64_t{0});
        put(track.core, now, record);
    }
    void whole(const Track& track, std::uint32_t function, Nanoseconds from, Nanoseconds to,
               std::uint32_t depth) override {
        exit(track, function, from, to, depth);
    }
    void absence(std::uint32_t core, const Absence& absence) override {
        add_core(core);
        flush(core);
        cores_[core].missing += absence.lost + absence.overwritten + absence.dropped;
        print(
            {0, core, 0}, cores_[core].last,
            fmt::format("gap: {} lost, {} overwritten, {} dropped, from {} to {} ns", absence.lost,
                        absence.overwritten, absence.dropped, absence.from, absence.to));
    }
    void mark(const Track& track, std::uint32_t id, Nanoseconds now) override {
        print(track, now, fmt::format("mark {}", id));
    }
    void counter(const Track& track, std::uint32_t id, std::int64_t value,
                 Nanoseconds now) override {
        print(track, now, fmt::format("counter {} = {}", id, value));
    }
    void value(const Track& track, const CapturedValue& captured, Nanoseconds now) override {
        print_value(track, now, captured.function, captured.name, captured.value);
    }
    void events(const Track& track, std::uint32_t function, std::span<const EventCount> counts,
                Nanoseconds now) override {
        for (const EventCount& one : counts)
            print_value(track, now, function, event_name(one.number), one.count);
    }
    void masked(const Track& track, std::uint32_t function, Nanoseconds from,
                Nanoseconds to) override {
        print(track, to,
              fmt::format("interrupts masked by {} from {} to {} ns",
                          symbols_[addresses_[function]], from, to));
    }
    void console(std::string_view bytes, Nanoseconds) override {
        if (!cores_.empty()) print({}, cores_[0].last, "console: " + for_cell(bytes));
    }
    void time_pair(const TimePair& pair) override {
        if (!cores_.empty()) print({}, cores_[0].last, "clock: " + time_pair_text(pair));
    }
    void finish() override;

private:
    // An event with its common fields, padded to whole words.
    class Record {
    public:
        Record(Id id, const Track& track) : Record(id, track.number + 1) {}
        Record(Id id, std::uint32_t thread) {
            add(static_cast<std::uint16_t>(id));
            add(std::uint16_t{0});
            add(thread);
        }
        template <typename Integer>
        void add(Integer value) {
            end_ = put_little(end_, value);
        }
        // The last part, of any length.
        void rest(std::string_view text) {
            end_ = std::copy_n(text.begin(), std::min(text.size(), most_text), end_);
            do *end_++ = 0;
            while ((end_ - bytes_) % 4 != 0);
        }
        void text(const std::string& name) {
            char text[comm_bytes] = {};
            std::copy_n(name.begin(), std::min(name.size(), comm_bytes - 1), text);
            end_ = std::copy_n(text, comm_bytes, end_);
        }
        std::string_view bytes() const { return {bytes_, static_cast<std::size_t>(end_ - bytes_)}; }

    private:
        static constexpr std::size_t most_text = most_longs * 4 - 16 - 1;
        char bytes_[most_longs * 4];
        char* end_ = bytes_;
    };

    static fs::path pages_name(const fs::path& beside, std::uint32_t core) {
        return fmt::format("{}.cpu-{}", beside.string(), core);
    }
    void add_core(std::uint32_t core) {
        if (core >= cores_.size()) cores_.resize(core + 1);
        if (core >= pages_.tracks()) pages_.add(core);
    }
    void exit(const Track& track, std::uint32_t function, Nanoseconds from, Nanoseconds to,
              std::uint32_t depth) {
        Record record(exit_id, track);
        record.add(addresses_[function]);
        record.add(depth);
        record.add(std::uint32_t{0});
        record.add(from);
        record.add(to);
        put(track.core, to, record);
    }
    // Prints `text`, as several events if it is too long for one.
    void print(const Track& track, Nanoseconds now, std::string_view text) {
        constexpr std::size_t piece = 80;
        do {
            Record record(print_id, track);
            record.add(std::uint64_t{0});
            record.rest(text.substr(0, piece));
            put(track.core, now, record);
            text.remove_prefix(std::min(piece, text.size()));
        } while (!text.empty());
    }
    template <typename Value>
    void print_value(const Track& track, Nanoseconds now, std::uint32_t function,
                     std::string_view name, Value value) {
        print(track, now, fmt::format("{} {} = {}", symbols_[addresses_[function]], name, value));
    }
    void put(std::uint32_t core, Nanoseconds now, const Record& record) {
        if (!std::exchange(has_said_times_, true)) {
            print({0, core, 0}, now, times_text(axis_));
            if (!part_.empty()) print({0, core, 0}, now, "a part of the recording: " + part_);
        }
        Page& page = cores_[core];
        constexpr std::size_t most_head = 12;
        if (page.data.size() + most_head + record.bytes().size() > page_room) flush(core);
        if (page.data.empty()) page.begin = page.last = now;
        const std::uint64_t delta = now - page.last;
        page.last = now;
        char head[most_head];
        char* to = head;
        constexpr std::uint64_t low = (1u << delta_bits) - 1;
        if (delta > low) {
            to = put_little(to, static_cast<std::uint32_t>(time_extend | (delta & low) << 5));
            to = put_little(to, static_cast<std::uint32_t>(delta >> delta_bits));
        }
        const auto words = static_cast<std::uint32_t>(record.bytes().size() / 4);
        to = put_little(to, words | static_cast<std::uint32_t>(delta > low ? 0 : delta) << 5);
        page.data.append(head, to);
        page.data += record.bytes();
    }
    void flush(std::uint32_t core) {
        Page& page = cores_[core];
        if (page.data.empty()) return;
        char head[page_header_bytes];
        put_little(put_little(head, page.begin),
                   page.data.size() | (page.missing != 0 ? has_missing : 0));
        if (page.missing != 0) {
            char count[missing_bytes];
            put_little(count, std::exchange(page.missing, 0));
            page.data.append(count, sizeof count);
        }
        page.data.resize(page_bytes - page_header_bytes);
        pages_.write(core, {head, sizeof head});
        pages_.write(core, page.data);
        page.data.clear();
    }

    void write_formats(std::span<const Format> formats) {
        number(static_cast<std::uint32_t>(formats.size()));
        for (const Format& format : formats) sized<std::uint64_t>(text_of(format));
    }
    template <typename Size>
    void sized(std::string_view text) {
        number(static_cast<Size>(text.size()));
        file_.write(text);
    }
    template <typename Integer>
    void number(Integer value) {
        char bytes[sizeof value];
        put_little(bytes, value);
        file_.write({bytes, sizeof bytes});
    }

    FileWriter file_;
    TimeAxis axis_;
    std::string part_;
    bool has_said_times_ = false;
    TrackFiles pages_;
    std::unordered_map<std::uint32_t, std::uint64_t> addresses_;  // by function's number
    std::map<std::uint64_t, std::string> symbols_;
    std::uint64_t without_address_ = 0;
    std::vector<Track> tracks_;
    std::vector<std::uint32_t> depths_;  // of open calls, by track
    std::vector<Page> cores_;
    Lanes lanes_;
    bool has_switches_ = false;  // or ready tasks
};

void TraceCmd::finish() {
    for (std::uint32_t core = 0; core < cores_.size(); ++core) flush(core);
    file_.write({"\x17\x08\x44tracing6\0", 12});
    file_.write({"\0\x08", 2});  // little-endian, longs of 8 bytes
    number(static_cast<std::uint32_t>(page_bytes));
    file_.write({"header_page\0", 12});
    sized<std::uint64_t>(header_page);
    file_.write({"header_event\0", 13});
    sized<std::uint64_t>(header_event);
    write_formats(event_formats);
    number(std::uint32_t{has_switches_});  // number of other event systems
    if (has_switches_) {
        file_.write({"sched\0", 6});
        write_formats(sched_formats);
    }
    std::string symbols;
    for (const auto& [address, name] : symbols_)
        symbols += fmt::format("{:016x} T {}\n", address, name);
    sized<std::uint32_t>(symbols);
    sized<std::uint32_t>("");
    std::string tasks;
    for (const Track& track : tracks_) {
        tasks += fmt::format("{} {}\n", track.number + 1, kernel_name(track));
    }
    sized<std::uint64_t>(tasks);
    number(static_cast<std::uint32_t>(cores_.size()));
    file_.write({"flyrecord\0", 10});
    const auto whole_pages = [](std::uint64_t bytes) {
        return (bytes + page_bytes - 1) & ~std::uint64_t{page_bytes - 1};
    };
    std::uint64_t at = whole_pages(file_.offset() + 16 * cores_.size());
    const std::uint64_t first = at;
    for (std::uint32_t core = 0; core < cores_.size(); ++core) {
        const std::uint64_t size = pages_.bytes(core);
        number(at);
        number(size);
        at += size;
    }
    file_.write(std::string(first - file_.offset(), '\0'));
    for (std::uint32_t core = 0; core < cores_.size(); ++core) pages_.move_to(file_, core);
    file_.close();
}

}  // namespace

std::unique_ptr<EventSink> trace_cmd_sink(const Output& output, TimeAxis axis) {
    return std::make_unique<TraceCmd>(output, axis);
}

}  // namespace nopscope::host
