// SPDX-License-Identifier: Apache-2.0
// The independent count: a QEMU plugin that counts how often each patch site's word is executed
// while it is a BL. It shares no code with the tracer, and the firmware does not know of it. In a
// deterministic run (-icount shift=0) its numbers must equal nopscope's, function by function.
//
//     qemu-system-aarch64 ... -plugin liboracle.so,sites=SITES,out=OUT
//
// SITES: a line "WORD FUNCTION END" for each site, hex: the addresses of the word that toggles, of
// the function's first instruction, and behind its last one. tests/e2e/machines.py writes it.
// QEMU's exit writes OUT:
//
//     {"instructions": N, "sites": [{"address": "0x..", "bl": N, "other": N, "own": N}, ...]}
//
// With stop=ADDRESS, hex, each site also has "before": its "bl" when the instruction at ADDRESS was
// first executed.
//
// With switch=BEGIN:END..., hex, the functions that switch stacks by MOV SP, OUT also has, for each
// task that ran, its counts of `bl` by function:
//
//     "tasks": [{"0x..": N, ...}, ...]
//
// The oracle knows a task by the SP with which it leaves and comes back, on any core. An
// interrupt's stack is a task.
//
// `address` is the function's; `other` counts executions of the word while it was not a BL; `own`
// counts the function's own instructions. It is 0 if END is not given.
//
// The bytes seen at translation are the bytes that are executed. QEMU keys a translated block by
// the physical page that it was read from. It write-protects this page in every softmmu TLB entry
// that refers to it, at any virtual address. So a store through the tracer's writable alias (VA +
// 0x40_0000_0000) takes the same slow path as a store to the text's own address, and discards the
// page's overlapping blocks before the next instruction. The next execution translates again, and
// this plugin sees the new word. (For this reason QEMU cannot prove cache maintenance.)
// tests/verification/oracle/known_counts.py checks it, with stores through an alias.
//
// The counters are shared and atomic, and a callback adds to them. QEMU's inline additions to a
// per-vCPU counter would be faster. But QEMU 10.0 (gen_plugin_u64_ptr) multiplies a
// translation-time constant in place when one thread runs several vCPUs, as with -icount. From vCPU
// 1 on, these additions go to wrong addresses.

#include "tests/verification/oracle/a64.hpp"
#include "tests/verification/oracle/plugin.hpp"

#include <atomic>
#include <cinttypes>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

int qemu_plugin_version = 4;

namespace {

using plugin::Json;

struct Site {
    std::uint64_t word = 0;
    std::uint64_t function = 0;
    std::uint64_t end = 0;
};

using Counter = std::atomic<std::uint64_t>;

struct Counted {
    Counter bl = 0;
    Counter other = 0;
    Counter own = 0;
    Counter before = 0;  // `bl` at the stop
};

// What each task has called, and which task each core runs.
class Tasks {
public:
    void call(unsigned core, std::size_t site) {
        const std::lock_guard lock(lock_);
        ++calls_[running(core)][site];
    }
    void leave(unsigned core, std::uint64_t sp) {
        const std::lock_guard lock(lock_);
        away_[sp] = running(core);
        running_[core] = none;
    }
    void take(unsigned core, std::uint64_t sp) {
        const std::lock_guard lock(lock_);
        const auto found = away_.find(sp);
        if (found == away_.end()) return;  // a new task
        running_[core] = found->second;
        away_.erase(found);
    }
    const auto& calls() const { return calls_; }

private:
    static constexpr std::size_t none = ~std::size_t{0};
    std::size_t running(unsigned core) {
        if (running_[core] == none) {
            running_[core] = calls_.size();
            calls_.emplace_back();
        }
        return running_[core];
    }

    std::mutex lock_;
    std::size_t running_[this_core::most] = {none, none, none, none, none, none, none, none};
    std::vector<std::map<std::size_t, std::uint64_t>> calls_;  // by task, then by site
    std::map<std::uint64_t, std::size_t> away_;                // tasks that do not run, by SP
};

struct Oracle {
    std::vector<Site> sites;
    std::deque<Counted> counted;  // by index of the site; elements never move
    std::unordered_map<std::uint64_t, std::size_t> site_at;  // by address of the word
    std::map<std::uint64_t, std::size_t> function_at;  // by its address; functions with an end only
    Counter instructions = 0;
    std::uint64_t stop = 0;  // address; 0: none
    std::atomic<bool> stopped = false;
    std::vector<Range> switching;           // empty: tasks are not told apart
    std::set<std::uint64_t> behind_switch;  // addresses
    Tasks tasks;
    plugin::Registers registers[this_core::most];
    std::string out;
};

// Never destroyed: QEMU calls on_exit after this library's static destructors.
Oracle& oracle = *new Oracle;

bool read_sites(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream fields(line);
        Site site;
        if (!(fields >> std::hex >> site.word >> site.function)) return false;
        fields >> site.end;
        if (site.end != 0) oracle.function_at.emplace(site.function, oracle.sites.size());
        if (!oracle.site_at.emplace(site.word, oracle.sites.size()).second) return false;
        oracle.sites.push_back(site);
        oracle.counted.emplace_back();
    }
    return !oracle.sites.empty();
}

void add_one(unsigned, void* counter) {
    static_cast<Counter*>(counter)->fetch_add(1, std::memory_order_relaxed);
}
void count(qemu_plugin_insn* instruction, Counter& counter) {
    plugin::call_before(instruction, add_one, &counter);
}

void count_in_task(unsigned told, void* site) {
    oracle.tasks.call(this_core::number(told), reinterpret_cast<std::uintptr_t>(site));
}
void note_leaving(unsigned told, void*) {
    const unsigned core = this_core::number(told);
    oracle.tasks.leave(core, oracle.registers[core].sp());
}
void note_taking(unsigned told, void*) {
    const unsigned core = this_core::number(told);
    oracle.tasks.take(core, oracle.registers[core].sp());
}
void watch_switch(qemu_plugin_insn* instruction, std::uint64_t address, std::uint32_t word) {
    const auto note = [&](auto* callback) {
        plugin::call_before(instruction, callback, nullptr, QEMU_PLUGIN_CB_R_REGS);
    };
    if (!any_has(oracle.switching, address)) return;
    if (oracle.behind_switch.contains(address)) note(note_taking);
    if (!a64::is_mov_to_sp(word)) return;
    note(note_leaving);
    oracle.behind_switch.insert(address + 4);
}

// If the target has one core, nothing else runs meanwhile.
void note_stop(unsigned, void*) {
    if (oracle.stopped.exchange(true)) return;
    for (Counted& counted : oracle.counted) counted.before = counted.bl.load();
}

// Returns the function that contains the instruction; null: none.
Counted* function_around(std::uint64_t address) {
    auto found = oracle.function_at.upper_bound(address);
    if (found == oracle.function_at.begin()) return nullptr;
    const std::size_t index = (--found)->second;
    return address < oracle.sites[index].end ? &oracle.counted[index] : nullptr;
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* block) {
    plugin::for_each_instruction(block, [](qemu_plugin_insn* instruction, std::uint64_t address,
                                           std::uint32_t word) {
        count(instruction, oracle.instructions);
        if (oracle.stop != 0 && address == oracle.stop) plugin::call_before(instruction, note_stop);
        if (Counted* const function = function_around(address)) count(instruction, function->own);
        watch_switch(instruction, address, word);
        const auto site = oracle.site_at.find(address);
        if (site == oracle.site_at.end()) return;
        if (!oracle.switching.empty() && a64::is_bl(word))
            plugin::call_before(instruction, count_in_task, reinterpret_cast<void*>(site->second));
        Counted& counted = oracle.counted[site->second];
        count(instruction, a64::is_bl(word) ? counted.bl : counted.other);
    });
}

void on_exit(qemu_plugin_id_t, void*) {
    std::vector<Json> sites, tasks;
    for (std::size_t i = 0; i < oracle.sites.size(); ++i) {
        const auto& [bl, other, own, before] = oracle.counted[i];
        Json::Members site = {{"address", hex(oracle.sites[i].function)},
                              {"bl", bl.load()},
                              {"other", other.load()},
                              {"own", own.load()}};
        if (oracle.stopped) site.emplace_back("before", before.load());
        sites.emplace_back(site);
    }
    for (const auto& task : oracle.tasks.calls()) {
        Json::Members counts;
        for (const auto& [site, calls] : task)
            counts.emplace_back(hex(oracle.sites[site].function), calls);
        tasks.emplace_back(counts);
    }
    Json::Members all = {{"instructions", oracle.instructions.load()}, {"sites", sites}};
    if (!oracle.switching.empty()) all.emplace_back("tasks", tasks);
    if (!Json(all).write(oracle.out))
        qemu_plugin_outs("oracle: cannot write the file named by out=\n");
}

void on_core(qemu_plugin_id_t, unsigned core) {
    if (core >= this_core::most) return;
    this_core::is_there(core);
    oracle.registers[core] = plugin::Registers::of_this_core();
}

}  // namespace

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*, int argc, char** argv) {
    oracle.out = plugin::argument(argc, argv, "out");
    oracle.stop = std::strtoull(plugin::argument(argc, argv, "stop").c_str(), nullptr, 16);
    std::istringstream switching(plugin::argument(argc, argv, "switch"));
    char colon = ':';
    for (Range one; switching >> std::hex >> one.low >> colon >> one.high; switching >> colon)
        oracle.switching.push_back(one);
    if (oracle.out.empty() || !read_sites(plugin::argument(argc, argv, "sites"))) {
        std::fputs(
            "oracle: needs out=FILE and sites=FILE (lines \"WORD FUNCTION [END]\", hex, each word "
            "once)\n",
            stderr);
        return -1;
    }
    plugin::watch(id, on_core, on_translation, on_exit);
    return 0;
}
