// SPDX-License-Identifier: Apache-2.0
// The independent count: a QEMU plugin that counts how often each patch site's word is executed
// while it is a BL. It shares no code with the tracer, and the firmware does not know of it. In a
// deterministic run (-icount shift=0) its numbers must equal nopscope's, function by function.
//
//     qemu-system-aarch64 ... -plugin liboracle.so,map=MAP,out=OUT
//
// MAP, hex, as tests/e2e/machines.py writes it:
//     site WORD FUNCTION END  addresses: of the word that toggles, of the function's first
//                             instruction, and behind its last one
//     stop ADDRESS            each site also has "before": its "bl" when the instruction there was
//                             first executed
//     switch BEGIN END        a function that switches stacks by MOV SP: OUT also has "tasks"
//
// QEMU's exit writes OUT. `tasks` has, for each task that ran, its counts of `bl` by function:
//
//     {"sites": [{"address": "0x..", "bl": N, "own": N}, ...], "tasks": [{"0x..": N, ...}, ...]}
//
// `address` is the function's. `own` counts the function's own instructions; it is 0 if END is 0.
// The oracle knows a task by the SP with which it leaves and comes back, on any core. An
// interrupt's stack is a task.
//
// The bytes seen at translation are the bytes that are executed. QEMU keys a translated block by
// the physical page that it was read from, and write-protects this page at every virtual address.
// So a store through the tracer's writable alias also discards the page's overlapping blocks. (For
// this reason QEMU cannot prove cache maintenance.)
//
// The counters are shared and atomic, and a callback adds to them. QEMU's inline additions go to
// wrong addresses when one thread runs several vCPUs, as with -icount (QEMU 10.0,
// gen_plugin_u64_ptr).

#include "tests/verification/oracle/a64.hpp"
#include "tests/verification/oracle/plugin.hpp"

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>

int qemu_plugin_version = 4;

namespace {

using plugin::call_before;
using plugin::Json;
using Counter = std::atomic<std::uint64_t>;

struct Site {
    std::uint64_t function = 0, end = 0;
    Counter bl = 0, own = 0;
    Counter before = 0;  // `bl` at the stop
};

struct Core {
    plugin::Registers registers = plugin::Registers::of_this_core();
    std::map<Site*, std::uint64_t>* task = nullptr;  // the counts of the task that it runs
};

struct Oracle {
    std::deque<Site> sites;                            // elements never move
    std::unordered_map<std::uint64_t, Site*> site_at;  // by address of the word
    std::map<std::uint64_t, Site*> function_at;        // by its address; functions with an end only
    std::uint64_t stop = 0;                            // address; 0: none
    std::atomic<bool> stopped = false;
    std::vector<Range> switching;           // empty: tasks are not told apart
    std::set<std::uint64_t> behind_switch;  // addresses
    std::mutex lock;                        // of the tasks
    std::deque<std::map<Site*, std::uint64_t>> tasks;
    std::map<std::uint64_t, std::map<Site*, std::uint64_t>*> away;  // that do not run, by SP
    plugin::Cores<Core> cores;
    std::string out;
};

// Never destroyed: QEMU calls on_exit after this library's static destructors.
Oracle& oracle = *new Oracle;

bool read_map(const std::string& path) {
    const auto add_site = [](const plugin::Numbers& is) {
        Site& site = oracle.sites.emplace_back();
        site.function = is[1];
        site.end = is[2];
        oracle.site_at.emplace(is[0], &site);
        if (site.end != 0) oracle.function_at.emplace(site.function, &site);
    };
    return plugin::read_map(
               path,
               {{"site", 3, add_site}, {"stop", oracle.stop}, {"switch", oracle.switching}}) &&
           !oracle.sites.empty() && oracle.site_at.size() == oracle.sites.size();
}

void add_one(unsigned, void* counter) {
    static_cast<Counter*>(counter)->fetch_add(1, std::memory_order_relaxed);
}

void count_in_task(unsigned told, void* site) {
    const std::lock_guard lock(oracle.lock);
    auto*& task = oracle.cores[told].task;
    if (task == nullptr) task = &oracle.tasks.emplace_back();
    ++(*task)[static_cast<Site*>(site)];
}
void note_leaving(unsigned told, void*) {
    Core& core = oracle.cores[told];
    const std::lock_guard lock(oracle.lock);
    if (core.task == nullptr) core.task = &oracle.tasks.emplace_back();
    oracle.away[core.registers.sp()] = std::exchange(core.task, nullptr);
}
void note_taking(unsigned told, void*) {
    Core& core = oracle.cores[told];
    const std::lock_guard lock(oracle.lock);
    const auto found = oracle.away.find(core.registers.sp());
    if (found == oracle.away.end()) return;  // a new task
    core.task = found->second;
    oracle.away.erase(found);
}
void watch_switch(qemu_plugin_insn* instruction, std::uint64_t address, std::uint32_t word) {
    if (!any_has(oracle.switching, address)) return;
    if (oracle.behind_switch.contains(address))
        call_before(instruction, note_taking, nullptr, QEMU_PLUGIN_CB_R_REGS);
    if (!a64::is_mov_to_sp(word)) return;
    call_before(instruction, note_leaving, nullptr, QEMU_PLUGIN_CB_R_REGS);
    oracle.behind_switch.insert(address + 4);
}

// If the target has one core, nothing else runs meanwhile.
void note_stop(unsigned, void*) {
    if (oracle.stopped.exchange(true)) return;
    for (Site& site : oracle.sites) site.before = site.bl.load();
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* block) {
    plugin::for_each_instruction(
        block, [](qemu_plugin_insn* instruction, std::uint64_t address, std::uint32_t word) {
            if (oracle.stop != 0 && address == oracle.stop) call_before(instruction, note_stop);
            if (Site* const function = around(oracle.function_at, address))
                call_before(instruction, add_one, &function->own);
            watch_switch(instruction, address, word);
            const auto site = oracle.site_at.find(address);
            if (site == oracle.site_at.end() || !a64::is_bl(word)) return;
            if (!oracle.switching.empty()) call_before(instruction, count_in_task, site->second);
            call_before(instruction, add_one, &site->second->bl);
        });
}

void on_exit(qemu_plugin_id_t, void*) {
    std::vector<Json> sites, tasks;
    for (const auto& [function, end, bl, own, before] : oracle.sites) {
        Json::Members site = {{"address", hex(function)}, {"bl", bl.load()}, {"own", own.load()}};
        if (oracle.stopped) site.emplace_back("before", before.load());
        sites.emplace_back(site);
    }
    for (const auto& task : oracle.tasks) {
        Json::Members counts;
        for (const auto& [site, calls] : task) counts.emplace_back(hex(site->function), calls);
        tasks.emplace_back(counts);
    }
    Json::Members all = {{"sites", sites}};
    if (!oracle.switching.empty()) all.emplace_back("tasks", tasks);
    Json(all).write(oracle.out);
}

void on_core(qemu_plugin_id_t, unsigned core) { oracle.cores.add(core); }

}  // namespace

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*, int argc, char** argv) {
    oracle.out = plugin::argument(argc, argv, "out");
    const bool is_ready = !oracle.out.empty() && read_map(plugin::argument(argc, argv, "map"));
    return plugin::start(id, is_ready, "oracle: needs out=FILE and map=FILE, with each site once\n",
                         on_core, on_translation, on_exit);
}
