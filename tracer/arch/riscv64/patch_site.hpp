// SPDX-License-Identifier: Apache-2.0
// A RISC-V patch site (contract: tracer/arch/patch_site.hpp), as -fpatchable-function-entry=8,4
// leaves it (4,2 without compressed instructions) and as boot initialisation makes it:
//
//     address       compiled           idle                  enabled
//     function-8    c.nop (4 times)    .quad ops             .quad ops
//     function      c.nop; c.nop       auipc t0, stubs       auipc t0, stubs
//     +4            c.nop; c.nop       nop                   jalr  t0, stub(t0)
//
// Only the last word toggles at run time, by one aligned store: instruction fetch of an aligned
// word is atomic (Ziccif). The AUIPC is written once, at boot, with the NOP of 4 bytes. No core may
// be between two C.NOPs then.
#pragma once

#include "tracer/arch/machine.hpp"
#include "tracer/arch/riscv64/instructions.hpp"

namespace nopscope {

inline constexpr std::uint64_t slot_bytes = 8;
inline constexpr std::uint64_t site_bytes = slot_bytes + 8;
inline constexpr std::uint64_t body_offset = 8;

struct PatchSite {
    Address function;

    constexpr Address slot() const { return function - slot_bytes; }
    constexpr Address setup() const { return function; }
    constexpr Address toggle() const { return function + 4; }
    constexpr Address body() const { return function + body_offset; }
    std::uint32_t setup_word() const { return arch::address_stubs(function, arch::stubs().first); }
};

// A site in 8 bytes: its slot's address. Bit 0: boot initialisation refused the site.
class SiteEntry {
public:
    constexpr explicit SiteEntry(std::uint64_t entry) : entry_(entry) {}
    static constexpr SiteEntry of(PatchSite site) { return SiteEntry(site.slot()); }
    constexpr SiteEntry refused() const { return SiteEntry(entry_ | refused_bit); }

    constexpr bool usable() const { return (entry_ & refused_bit) == 0; }
    constexpr Address function() const { return slot() + slot_bytes; }
    constexpr std::uint64_t raw() const { return entry_; }
    constexpr Address slot() const { return entry_ & ~refused_bit; }
    // These need a usable site.
    constexpr Address setup() const { return function(); }
    constexpr Address toggle() const { return function() + 4; }
    std::uint32_t setup_word() const { return PatchSite{function()}.setup_word(); }
    constexpr std::uint32_t word(const arch::ToggleWord& toggling) const {
        return toggling.at(entry_, slot_bytes + 4);
    }

private:
    static constexpr std::uint64_t refused_bit = 1;
    std::uint64_t entry_;
};

constexpr Address function_of_body(Address body) { return body - body_offset; }

inline CodeRange way_to_entries() { return arch::stubs().code(); }

template <MachineConcept M>
bool is_unset(M& machine, SiteEntry site) {
    constexpr std::uint32_t two_compressed = 0x0001'0001;
    const std::uint32_t word = machine.read_word(site.setup());
    return (word == two_compressed || word == arch::idle_word) &&
           machine.read_word(site.toggle()) == word &&
           machine.read_slot(site.slot()) == (std::uint64_t{word} << 32 | word);
}
template <MachineConcept M>
void write_idle_words(M& machine, SiteEntry site) {
    machine.write_word(site.setup(), site.setup_word());
    machine.write_word(site.toggle(), arch::idle_word);
}

template <MachineConcept M>
PatchSite patch_site(M&, Address function) {
    return {function};
}
template <typename M>
bool is_site_call(M& machine, Address address) {
    return address % 8 == 0 &&
           (machine.read_word(address - 8) & arch::opcode_and_rd) == arch::auipc_t0 &&
           (machine.read_word(address - 4) & arch::but_immediate) == arch::jalr_t0_t0;
}

}  // namespace nopscope
