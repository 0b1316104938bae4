// SPDX-License-Identifier: Apache-2.0
// A machine whose caches are as incoherent as the architecture allows.
// Text exists four times: as data accesses see it, at the point of unification, in each core's
// instruction cache, and in each core's pipeline, which has already fetched it.
//   - A store reaches the data side only.
//   - A clean or an invalidate is only queued. The issuing core's next DSB completes the queue,
//     invalidates before cleans. So a clean and an invalidate without a DSB between them leave
//     the old word in the instruction caches. Without a DSB after them nothing happens.
//   - Every core refills an invalidated line at once from the point of unification.
//   - A core refills its pipeline from its instruction cache at its context synchronisation
//     event, and at no other time.
// CTR_EL0.IDC or .DIC keeps the second or the third copy coherent, but not the pipelines.
// NOPSCOPE_SIMULATED_RISCV: a RISC-V machine. Nothing needs cleaning; a data fence makes stores
// visible to all harts, and FENCE.I refills a hart's pipeline.
#pragma once

#include "tracer/arch/machine.hpp"

#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <vector>

namespace nopscope::sim {

struct Options {
    unsigned cores = 2;
    std::size_t line_bytes = 64;  // of the data caches
    std::size_t icache_line_bytes = 64;
    bool idc = false;  // CTR_EL0.IDC: stores reach the point of unification by themselves
    bool dic = false;  // CTR_EL0.DIC: and from there the instruction caches
};

struct SimMachine {
    SimMachine(Address base, std::size_t bytes, Options options = {})
        : options_(options),
          base_(base),
          data_(bytes),
          unified_(bytes),
          icache_(options.cores, std::vector<std::uint8_t>(bytes)),
          pipeline_(icache_) {}

    // Puts a word into all copies, as a loader does before the first instruction runs.
    void load(Address address, std::uint32_t word) {
        put(data_, address, word);
        put(unified_, address, word);
        for (auto& cache : icache_) put(cache, address, word);
        for (auto& pipeline : pipeline_) put(pipeline, address, word);
    }
    std::uint32_t fetch(unsigned core, Address address) const {
        return get(pipeline_[core], address);
    }

    // ---- MachineConcept, as core 0
    std::uint32_t read_word(Address address) { return get(data_, address); }
    void write_word(Address address, std::uint32_t word) {
        put(data_, address, word);
        if (options_.idc) put(unified_, address, word);
        if (options_.idc && options_.dic)
            for (auto& cache : icache_) put(cache, address, word);
        ++word_writes;
    }
    std::uint64_t read_slot(Address address) {
        return read_word(address) | static_cast<std::uint64_t>(read_word(address + 4)) << 32;
    }
    void write_slot(Address address, std::uint64_t slot) {
        if (address % 8 != 0) torn_slots.insert(address);
        put(data_, address, static_cast<std::uint32_t>(slot));
        put(data_, address + 4, static_cast<std::uint32_t>(slot >> 32));
        ++slot_writes;
    }
    std::size_t dcache_line_bytes() { return options_.idc ? 0 : options_.line_bytes; }
    std::size_t icache_line_bytes() { return options_.dic ? 0 : options_.icache_line_bytes; }
    void clean_dcache_line(Address address) {
        const Address line = address & ~(options_.line_bytes - 1);
        ++cleans[line];
        pending_cleans_.push_back(line);
    }
    void invalidate_icache_line(Address address) {
        const Address line = address & ~(options_.icache_line_bytes - 1);
        ++invalidates[line];
        pending_invalidates_.push_back(line);
    }
    // For memory that is not text. The test checks which lines were cleaned since the last reset.
    std::size_t poc_line_bytes() { return options_.line_bytes; }
    void clean_to_poc(Address address) { poc_cleans.insert(address & ~(options_.line_bytes - 1)); }
    void data_barrier() {
#ifdef NOPSCOPE_SIMULATED_RISCV
        // Other harts see all stores from now on, and fetch them after their next FENCE.I.
        unified_ = data_;
        for (auto& cache : icache_) cache = data_;
#endif
        for (Address at : pending_invalidates_)
            for (auto& cache : icache_) copy_line(unified_, cache, at, options_.icache_line_bytes);
        for (Address at : pending_cleans_) {
            copy_line(data_, unified_, at, options_.line_bytes);
            if (!options_.dic) continue;
            for (auto& cache : icache_) copy_line(unified_, cache, at, options_.line_bytes);
        }
        pending_invalidates_.clear();
        pending_cleans_.clear();
    }
    void instruction_barrier() { pipeline_[0] = icache_[0]; }
    bool run_on_other_cores(CoreCall call, void* argument) {
        synchronize_other_cores();
        for (unsigned core = 1; core < options_.cores; ++core)
            call(argument, {.core = core, .pc = 0, .depth = 0});
        return true;
    }
    std::uint32_t online_cores() const { return (1u << options_.cores) - 1; }
    bool synchronize_other_cores() {
        if (loses_calls) return false;
        for (unsigned core = 1; core < options_.cores; ++core) pipeline_[core] = icache_[core];
        return true;
    }
    void use_caches_of_this_core() {}
    std::uint64_t mask_interrupts() {
        if (on_mask) on_mask();
        return masked_++;
    }
    void restore_interrupts(std::uint64_t masked) {
        masked_ = masked;
        if (masked != 0 || !on_restore) return;
        const auto interrupt = on_restore;  // the call may change on_restore
        interrupt();
    }
    std::uint64_t clock() {
        const std::uint64_t read = now += ticks_per_read;
        if (on_clock) on_clock();
        return read;
    }
    unsigned core() { return current; }

    bool loses_calls = false;  // no other core takes an interrupt
    unsigned current = 0;      // the running core; only core 0 patches and needs caches
    std::uint64_t now = 1'000'000;
    std::uint64_t ticks_per_read = 1;
    std::function<void()> on_restore;  // an interrupt that comes when interrupts are unmasked
    std::function<void()> on_clock;    // an interrupt that comes right behind a read of the clock
    std::function<void()> on_mask;     // what another core does when interrupts are masked
    unsigned word_writes = 0;
    unsigned slot_writes = 0;
    std::set<Address> torn_slots;
    std::set<Address> poc_cleans;
    std::map<Address, unsigned> cleans;
    std::map<Address, unsigned> invalidates;

private:
    using Bytes = std::vector<std::uint8_t>;

    std::uint32_t get(const Bytes& bytes, Address address) const {
        std::uint32_t word;
        std::memcpy(&word, &bytes.at(address - base_), 4);
        return word;
    }
    void put(Bytes& bytes, Address address, std::uint32_t word) {
        std::memcpy(&bytes.at(address - base_), &word, 4);
    }
    void copy_line(const Bytes& from, Bytes& to, Address at, std::size_t bytes) {
        std::memcpy(&to.at(at - base_), &from.at(at - base_), bytes);
    }

    Options options_;
    Address base_;
    Bytes data_;
    Bytes unified_;
    std::vector<Bytes> icache_;
    std::vector<Bytes> pipeline_;
    std::vector<Address> pending_cleans_;
    std::vector<Address> pending_invalidates_;
    std::uint64_t masked_ = 0;
};
static_assert(MachineConcept<SimMachine>);

}  // namespace nopscope::sim
