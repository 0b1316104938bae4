// SPDX-License-Identifier: Apache-2.0
// Runs the target's own pump on the contents of its rings. So the recording has the same frames and
// the same accounting, and needs no second decoder.
//
// This file is compiled with the largest possible ring. Each record moves from its place in the
// target's ring to the same record's place in such a ring, which never wraps. All records in the
// ring are taken, sent or not, up to most_ring_bytes of the newest.
#include "host-tools/line/memory/pull.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <unordered_set>

#include "host-tools/base/error.hpp"
#include "host-tools/base/file.hpp"
#include "host-tools/image/read_symbols.hpp"
#include "host-tools/line/memory/described_target.hpp"
#include "tracer/stream/pump.hpp"

namespace nopscope::host {
namespace {

static_assert(ring_log2 == 28, "the largest: any target's fits in");

// A machine in which time stands still and no interrupt comes.
struct StillMachine {
    std::uint64_t now = 0;

    std::uint32_t read_word(Address) { return 0; }
    void write_word(Address, std::uint32_t) {}
    std::uint64_t read_slot(Address) { return 0; }
    void write_slot(Address, std::uint64_t) {}
    std::size_t dcache_line_bytes() { return 0; }
    std::size_t icache_line_bytes() { return 0; }
    void clean_dcache_line(Address) {}
    void invalidate_icache_line(Address) {}
    void data_barrier() {}
    std::size_t poc_line_bytes() { return 64; }
    void clean_to_poc(Address) {}
    void instruction_barrier() {}
    bool run_on_other_cores(CoreCall, void*) { return true; }
    bool synchronize_other_cores() { return true; }
    void use_caches_of_this_core() {}
    std::uint32_t online_cores() { return 1; }
    std::uint64_t mask_interrupts() { return 0; }
    void restore_interrupts(std::uint64_t) {}
    std::uint64_t clock() { return now; }
    unsigned core() { return 0; }
};

// Address space for a ring; only written pages take memory. The mapping is shared, because private
// memory counts against RLIMIT_DATA.
class RingSpace {
public:
    RingSpace()
        : space_(mmap(nullptr, ring_bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
        if (space_ == MAP_FAILED) throw Error("no room for a ring: " + system_error(errno));
    }
    ~RingSpace() { munmap(space_, ring_bytes); }
    RingSpace(const RingSpace&) = delete;
    RingSpace& operator=(const RingSpace&) = delete;
    std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(space_); }

private:
    void* space_;
};

std::uint64_t excess_of(protocol::Record record, std::uint64_t bytes) {
    return record.kind() == protocol::Kind::ret ? (bytes << 1) << protocol::kind_shift
                                                : recorder_excess(record);
}

// Moves the contents of the target's ring to `core`, whose cursor is at the same record.
void move_part(const DescribedTarget& target, unsigned number, std::uint64_t from, std::uint64_t to,
               Core& core) {
    const std::uint64_t bytes = std::uint64_t{1} << target.ring_log2();
    std::uint64_t position = from;
    for (const std::uint64_t stored : target.ring(number, from, to)) {
        const auto lap = static_cast<std::uint32_t>(position >> (target.ring_log2() - 2));
        const protocol::Record record{stored ^ std::uint64_t{lap} << protocol::kind_shift};
        const std::uint64_t here = position - bytes + ring_bytes;
        if ((record.word & unwritten_bit) != 0) {
            unwrite(core, here);
        } else {
            // Laps and excess refer to the target's ring; convert them to this ring.
            const protocol::Record whole{record.word - excess_of(record, bytes)};
            ring_store(core, here, whole.word + recorder_excess(record));
        }
        position += record_bytes;
    }
}
void move_ring(const DescribedTarget& target, unsigned number, std::uint64_t from, std::uint64_t to,
               Core& core) {
    constexpr std::uint64_t part_bytes = std::uint64_t{1} << 20;
    for (; from < to; from += std::min(part_bytes, to - from)) {
        move_part(target, number, from, std::min(to, from + part_bytes), core);
    }
}

// The clock of the newest record: the clock that a pump saw last, advanced by the records since.
std::uint64_t newest_clock(const Core& core, std::uint64_t oldest, std::uint64_t seen,
                           std::uint64_t seen_clock) {
    std::uint64_t clock = seen_clock;
    for (std::uint64_t at = std::clamp(seen, oldest, core.cursor); at < core.cursor;
         at += record_bytes) {
        if (const auto record = ring_peek(core, at)) clock = clock_of(*record, clock);
    }
    return clock;
}

// The position from which the running context is known. If the first context switch has two records
// (flush_pending_context), it says what ran before, so it is `oldest`; otherwise it is that switch.
std::uint64_t first_told(const Core& core, std::uint64_t oldest, std::uint64_t doubled_from) {
    for (std::uint64_t at = oldest; at < core.cursor; at += record_bytes) {
        const auto record = ring_peek(core, at);
        if (!record || !record->is(protocol::Extended::context)) continue;
        return at >= doubled_from ? oldest : at;
    }
    return oldest;
}

// Fills `core`, which is cleared except for `ring`, with the state in which the target's pump would
// send all records. Returns the clock at its end.
template <typename IsSite>
std::uint64_t take_core(const DescribedTarget& target, unsigned number, Core& core, IsSite is_site,
                        Recovered& found, Pulled& pulled) {
    const DescribedCore theirs = target.core(number);
    const std::uint64_t bytes = std::uint64_t{1} << target.ring_log2();
    const auto ours = [&](std::uint64_t position) { return position - bytes + ring_bytes; };
    const std::uint64_t held_from = std::max(bytes, theirs.cursor - bytes);
    const std::uint64_t share = most_ring_bytes / target.hello().cores & ~(record_bytes - 1);
    const std::uint64_t from = std::max(held_from, theirs.cursor - std::min(theirs.cursor, share));
    pulled.left_out += (from - held_from) / record_bytes;
    core.cursor = ours(theirs.cursor);
    move_ring(target, number, from, theirs.cursor, core);
    const std::uint64_t oldest = next_record(core, ours(from) - record_bytes);
    const std::uint64_t clock = newest_clock(core, oldest, ours(theirs.seen), theirs.seen_clock);
    const RingBegin begin = walk_back(
        core, first_told(core, oldest, theirs.flight ? ours(theirs.doubled_from) : no_limit),
        {core.cursor, clock, theirs.last_context_recorded});
    core.tail = begin.position;
    core.pumped_clock = begin.clock;
    core.pumped_context = begin.context;
    core.overwritten = record_index(begin.position);
    core.dropped = theirs.dropped;
    core.shadow_stack_full = theirs.shadow_stack_full;
    core.off_stack = theirs.off_stack;
    core.filtered = theirs.filtered;
    core.reserve = return_reserve_bytes;
    leave_out_implausible(core, begin.clock, target.hello().clock_hz, is_site, found);
    return clock;
}

std::vector<std::uint8_t>* line_of_pump = nullptr;

}  // namespace

Pulled pull_rings(TargetMemory& memory, const ElfFile& image) {
    const DescribedTarget target(memory, image);
    std::unordered_set<std::uint32_t> sites;
    for (const std::uint64_t site : site_addresses(image)) {
        sites.insert(static_cast<std::uint32_t>(site + target.hello().load_bias));
    }
    const auto is_site = [&](std::uint32_t low) { return sites.contains(low); };

    StillMachine machine;
    const unsigned count = target.hello().cores;
    std::vector<Core> cores(count);
    std::vector<RingSpace> rings(count);
    Recovered found{0, 0, 0};
    Pulled pulled;
    for (unsigned n = 0; n < count; ++n) {
        cores[n].ring = rings[n].address();
        machine.now = std::max(machine.now, take_core(target, n, cores[n], is_site, found, pulled));
    }
    pulled.refused = found.refused;
    // Otherwise the pump would add records.
    for (Core& core : cores) {
        core.seen = core.cursor;
        core.last_sync = core.seen_clock = machine.now;
    }

    line_of_pump = &pulled.line;
    Config config;
    config.cores = count;
    config.output.try_write = [](std::uint8_t byte) { return line_of_pump->push_back(byte), true; };
    const auto encoders = std::make_unique<protocol::TraceEncoder[]>(count);
    const auto pump = std::make_unique<Pump<StillMachine>>(machine, cores, encoders.get());
    pump->open(config, target.hello(), target.session());
    pump->finish(0);
    line_of_pump = nullptr;
    return pulled;
}

}  // namespace nopscope::host
