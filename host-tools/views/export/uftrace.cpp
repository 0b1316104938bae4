// SPDX-License-Identifier: Apache-2.0
// A directory for `uftrace report`, `graph`, `replay` and `tui`. Each track is a task with its own
// file, 16 bytes an event. The functions' addresses are in the symbol file of an imaginary program.
// The tasks' names are events as perf records them, in a file of their own.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/views/export/formats.hpp"
#include "host-tools/views/export/little_endian.hpp"
#include "host-tools/views/export/track_files.hpp"

namespace nopscope::host {
namespace {

namespace fs = std::filesystem;

// uftrace finds functions by the address ranges of the symbol file. So each function gets 16 bytes
// in an imaginary program, whatever its address in the firmware is.
constexpr std::uint64_t text_base = 0x400000;
constexpr std::uint64_t function_bytes = 16;
constexpr char program[] = "/nopscope/firmware";
constexpr char session[] = "0123456789abcdef";

class Uftrace : public EventSink {
public:
    Uftrace(const Output& output, TimeAxis axis)
        : directory_(output.path()),
          records_(output.path(), records_name),
          about_(times_text(axis)) {}

    bool wants_tasks() const override { return true; }
    void on_shown_part(const std::string& part) override { about_ += "; a part: " + part; }
    void on_function(std::uint32_t number, const FunctionPlace& place) override {
        std::string name = for_cell(place.name);
        functions_.push_back(name.empty() ? "(no name)" : std::move(name));
        addresses_[number] = text_base + (functions_.size() - 1) * function_bytes;
    }
    void on_track(const Track& track) override {
        if (track.number == most_tasks) {
            throw Error(
                fmt::format("uftrace's format has a file for each task, and this recording has "
                            "more than {} tasks: choose "
                            "another format",
                            with_commas(most_tasks)));
        }
        tracks_.push_back(track);
        depths_.push_back(0);
        firsts_.push_back(0);
        records_.add(track.number);
    }
    void entry(const Track& track, std::uint32_t function, Nanoseconds now) override {
        record(track, type_entry, function, now, depths_[track.number]++);
    }
    void leave(const Track& track, const EndedCall& call) override {
        --depths_[track.number];
        record(track, type_exit, call.function, call.to, call.depth);
    }
    void point(const Track& track, std::uint32_t function, Nanoseconds now) override {
        record(track, type_entry, function, now, depths_[track.number]);
        record(track, type_exit, function, now, depths_[track.number]);
    }
    // Keeps only the first pair: a line of `uftrace info` has 4 KiB.
    void time_pair(const TimePair& pair) override {
        if (!std::exchange(has_pair_, true)) about_ += "; " + time_pair_text(pair);
    }
    void finish() override;

private:
    static constexpr std::uint64_t type_entry = 0;
    static constexpr std::uint64_t type_exit = 1;
    static constexpr std::uint64_t magic = 5;
    static constexpr std::uint64_t most_depth = 0x3ff;
    static constexpr std::uint32_t most_tasks = 10'000;

    static fs::path records_name(const fs::path& directory, std::uint32_t track) {
        return directory / fmt::format("{}.dat", track + 1);
    }
    // Bit fields: time in ns 64; type 2, has arguments 1, magic 3, depth 10, address 48.
    void record(const Track& track, std::uint64_t type, std::uint32_t function, Nanoseconds now,
                std::uint64_t depth) {
        char bytes[16];
        if (Nanoseconds& first = firsts_[track.number]; first == 0) first = now;
        put_little(
            put_little(bytes, std::max<Nanoseconds>(now, 1)),
            type | magic << 3 | std::min(depth, most_depth) << 6 | addresses_[function] << 16);
        records_.write(track.number, {bytes, sizeof bytes});
    }
    // An event that renames a task: PERF_RECORD_COMM, with pid, tid and time behind it.
    std::string names_of_tasks() const {
        constexpr std::uint32_t renames = 3;
        constexpr std::size_t name_bytes = 16;  // with its zero
        constexpr std::uint32_t process = 1;
        std::string events;
        for (const Track& track : tracks_) {
            if (track.task == nullptr) continue;
            char event[8 + 8 + name_bytes + 16] = {};
            char* to = put_little(event, renames);
            to = put_little(to, std::uint16_t{0});
            to = put_little(to, std::uint16_t{sizeof event});
            to = put_little(put_little(to, process), track.number + 1);
            const std::string name = for_cell(track_name(track)).substr(0, name_bytes - 1);
            std::copy(name.begin(), name.end(), to);
            to = put_little(put_little(to + name_bytes, process), track.number + 1);
            put_little(to, std::max<Nanoseconds>(firsts_[track.number], 1));
            events.append(event, sizeof event);
        }
        return events;
    }
    void write(const fs::path& name, std::string_view text) const {
        FileWriter file(directory_ / name);
        file.write(text);
        file.close();
    }

    fs::path directory_;
    TrackFiles records_;
    std::string about_;  // shown as the command line
    bool has_pair_ = false;
    std::vector<std::string> functions_;
    std::unordered_map<std::uint32_t, std::uint64_t> addresses_;
    std::vector<Track> tracks_;
    std::vector<std::uint64_t> depths_;
    std::vector<Nanoseconds> firsts_;  // by track: the time of its first event
};

void Uftrace::finish() {
    records_.keep();
    std::string tasks;
    std::string task_lines =
        fmt::format("SESS timestamp=0.000000001 pid=1 sid={} exename=\"{}\"\n", session, program);
    for (const Track& track : tracks_) {
        tasks += fmt::format("{}{}", tasks.empty() ? "" : ",", track.number + 1);
        task_lines += fmt::format("TASK timestamp=0.000000001 tid={} pid=1\n", track.number + 1);
    }
    const std::uint64_t end = text_base + (functions_.size() + 1) * function_bytes;
    char header[40] = "Ftrace!";
    char* to = put_little(header + 8, std::uint32_t{4});
    to = put_little(to, std::uint16_t{sizeof header});
    *to++ = 1;  // little-endian
    *to++ = 2;  // 64 bits
    const std::string names = names_of_tasks();
    // Features: tasks, sessions, relative symbols, depth, perf's events. Then: program, command
    // line, tasks.
    to =
        put_little(to, std::uint64_t{1u << 1 | 1u << 5 | 1u << 6 | (names.empty() ? 0u : 1u << 8)});
    to = put_little(to, std::uint64_t{1u << 0 | 1u << 3 | 1u << 7});
    put_little(to, std::uint16_t{65535});
    write("info",
          std::string(header, sizeof header) +
              fmt::format(
                  "exename:{}\ncmdline:nopscope export: {}\ntaskinfo:lines=2\ntaskinfo:nr_tid={}\n"
                  "taskinfo:tids={}\n",
                  program, about_, tracks_.size(), tasks));
    write("task.txt", task_lines);
    if (!names.empty()) write("perf-cpu0.dat", names);
    // Without a stack in the map, uftrace takes every address for one of the kernel.
    write(fmt::format("sid-{}.map", session),
          fmt::format(
              "{:012x}-{:012x} r-xp 00000000 00:00 0                          {}\n"
              "7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0                          [stack]\n",
              text_base, (end + 0xfff) & ~std::uint64_t{0xfff}, program));
    std::string symbols;
    for (std::size_t i = 0; i < functions_.size(); ++i) {
        symbols += fmt::format("{:016x} T {}\n", i * function_bytes, functions_[i]);
    }
    write("firmware.sym",
          symbols + fmt::format("{:016x} ? __sym_end\n", functions_.size() * function_bytes));
}

}  // namespace

std::unique_ptr<EventSink> uftrace_sink(const Output& output, TimeAxis axis) {
    return std::make_unique<Uftrace>(output, axis);
}

}  // namespace nopscope::host
