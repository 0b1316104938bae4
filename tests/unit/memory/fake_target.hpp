// SPDX-License-Identifier: Apache-2.0
// A target's memory, laid out as tracer/core/ring.hpp and docs/debugger.md say.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "host-tools/base/error.hpp"
#include "host-tools/line/memory/pull.hpp"
#include "host-tools/line/stream/session.hpp"
#include "tests/unit/host/elf_builder.hpp"
#include "tests/unit/host/hello_2.hpp"
#include "tracer/core/descriptor.hpp"

namespace nopscope::host::test {

constexpr std::uint64_t note_at = 0x40300000, descriptor_at = 0x40600000, hello_at = 0x40601000;
constexpr std::uint64_t cores_at = 0x40602000, rings_at = 0x40610000;

struct FakeMemory final : TargetMemory {
    void read(std::uint64_t address, std::span<std::uint8_t> to) override {
        most_at_once = std::max(most_at_once, to.size());
        for (const auto& [base, block] : blocks) {
            if (address < base || address - base > block.size() ||
                to.size() > block.size() - (address - base))
                continue;
            std::memcpy(to.data(), block.data() + (address - base), to.size());
            return;
        }
        if (address < rings_at || repeated.empty() || to.size() > most_repeated)
            throw Error("there is no memory at " + std::to_string(address));
        most_repeated -= to.size();
        for (std::size_t i = 0; i < to.size(); ++i)
            to[i] = repeated[(address - rings_at + i) % repeated.size()];
    }
    template <typename T>
    void put(std::uint64_t address, const T* from, std::size_t count = 1) {
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(from);
        blocks[address].assign(bytes, bytes + count * sizeof(T));
    }
    std::map<std::uint64_t, Bytes> blocks;
    Bytes repeated;  // from the rings on, where there is no block
    std::size_t most_repeated = 2 * most_ring_bytes, most_at_once = 0;  // bytes
};

struct FakeTarget {
    explicit FakeTarget(unsigned ring_log2 = 13) {
        site = builder.function("leaf");
        builder.function("other");
        builder.symbol("__build_id_note_start", note_at, 0);
        builder.symbol("nopscope_descriptor", descriptor_at, 1);
        elf.emplace(builder.build(), "fake.elf");
        const auto whole = elf->bytes_at(note_at, 16 + 3);
        memory.put(note_at, whole.data(), whole.size());
        const std::uint64_t ring_bytes = std::uint64_t{1} << ring_log2;
        descriptor = describe_cores(reinterpret_cast<const Core*>(cores_at),
                                    reinterpret_cast<const void*>(rings_at), ring_bytes + 4096,
                                    reinterpret_cast<const void*>(hello_at));
        descriptor.ring_log2 = ring_log2;
        descriptor.ready = 1;
        descriptor.session = 0x1234;
        hello.clock_hz = 1'000'000;
        hello.text_base = ElfBuilder::text_base;
        hello.flight = true;
        hello.site_count = 2;
        core.cursor = core.doubled_from = ring_bytes;
        core.flight = 1;
    }
    // Puts all but the rings into the memory.
    void lay_out() {
        protocol::Byte payload[protocol::max_payload_bytes];
        const std::size_t hello_bytes =
            hello.version == 2 ? write_hello_2(hello, payload) : write_hello(hello, payload);
        descriptor.hello_bytes = static_cast<std::uint32_t>(hello_bytes);
        memory.put(hello_at, payload, hello_bytes);
        memory.put(descriptor_at, &descriptor);
        const std::vector<Core> cores(hello.cores, core);
        memory.put(cores_at, cores.data(), cores.size());
    }

    ElfBuilder builder;
    std::uint64_t site = 0;
    std::optional<ElfFile> elf;
    FakeMemory memory;
    Descriptor descriptor{};
    protocol::Hello hello;
    Core core{};
};

inline bool adds_up(const StreamCounters& sum) {
    return sum.generated ==
           sum.delivered + sum.dropped + sum.overwritten + sum.aggregated + sum.filtered + sum.lost;
}

}  // namespace nopscope::host::test
