// SPDX-License-Identifier: Apache-2.0
// A patch site (contract: tracer/arch/patch_site.hpp), as -fpatchable-function-entry=4,2 leaves it
// and as boot initialisation makes it:
//
//     address       compiled                 idle                enabled
//     function-8    nop; nop                 .quad ops           .quad ops
//     function      bti c   (or not there)   bti c               bti c
//     +0 or +4      nop                      mov x9, x30         mov x9, x30
//     +4 or +8      nop                      nop                 bl recorder
//
// GCC leaves BTI C out of functions that are local and never have their address taken. Only the
// last word toggles at run time: NOP and BL may change under a core that executes them, MOV may not
// (Arm ARM, B2.2.5), so it is written once, at boot.
#pragma once

#include "tracer/arch/arm64/instructions.hpp"
#include "tracer/arch/machine.hpp"

namespace nopscope {

inline constexpr std::uint64_t slot_bytes = 8;
inline constexpr std::uint64_t site_bytes = slot_bytes + 12;
inline constexpr std::uint64_t body_offset = 8;

struct PatchSite {
    Address function;
    bool landing_pad;

    constexpr Address slot() const { return function - slot_bytes; }
    constexpr Address setup() const { return function + (landing_pad ? 4 : 0); }
    constexpr Address toggle() const { return setup() + 4; }
    constexpr Address body() const { return setup() + 8; }
    static constexpr std::uint32_t setup_word() { return arch::save_link; }
};

// A site in 8 bytes: its slot's address, as the compiler leaves it in the table, and two flags in
// bits that alignment leaves free. Bit 0: boot initialisation refused the site. Bit 2: the site has
// a landing pad. A usable slot is 8-byte aligned, so bit 2 is free. It adds the pad's 4 bytes to
// the address, so the words are at the same distance from the entry in both layouts.
class SiteEntry {
public:
    constexpr explicit SiteEntry(std::uint64_t entry) : entry_(entry) {}
    static constexpr SiteEntry of(PatchSite site) {
        return SiteEntry(site.slot() | (site.landing_pad ? pad_bit : 0));
    }
    constexpr SiteEntry refused() const { return SiteEntry(entry_ | refused_bit); }

    constexpr bool usable() const { return (entry_ & refused_bit) == 0; }
    constexpr Address function() const {
        return (usable() ? slot() : entry_ & ~refused_bit) + slot_bytes;
    }
    constexpr std::uint64_t raw() const { return entry_; }
    // These four need a usable site.
    constexpr Address slot() const { return entry_ & ~std::uint64_t{7}; }
    constexpr Address setup() const { return entry_ + slot_bytes; }
    constexpr Address toggle() const { return setup() + 4; }
    static constexpr std::uint32_t setup_word() { return PatchSite::setup_word(); }
    constexpr std::uint32_t word(const arch::ToggleWord& toggling) const {
        return toggling.at(entry_, slot_bytes + 4);
    }

private:
    static constexpr std::uint64_t refused_bit = 1, pad_bit = 4;
    std::uint64_t entry_;
};
static_assert(SiteEntry::of({0x1000, true}).toggle() == PatchSite{0x1000, true}.toggle());
static_assert(SiteEntry::of({0x1000, false}).toggle() == PatchSite{0x1000, false}.toggle());
static_assert(SiteEntry::of({0x1000, true}).slot() == 0xff8);
static_assert(SiteEntry(0xffc).refused().function() == 0x1004);  // no multiple of 8

// What a trampoline computes from x30, in both layouts.
constexpr Address function_of_body(Address body) {
    return (body & ~std::uint64_t{7}) - body_offset;
}
static_assert(function_of_body(PatchSite{0x1000, false}.body()) == 0x1000);
static_assert(function_of_body(PatchSite{0x1000, true}.body()) == 0x1000);

constexpr CodeRange way_to_entries() { return {}; }

template <MachineConcept M>
bool is_unset(M& machine, SiteEntry site) {
    constexpr std::uint64_t two_words = std::uint64_t{arch::idle_word} << 32 | arch::idle_word;
    return machine.read_slot(site.slot()) == two_words &&
           machine.read_word(site.setup()) == arch::idle_word &&
           machine.read_word(site.toggle()) == arch::idle_word;
}
template <MachineConcept M>
void write_idle_words(M& machine, SiteEntry site) {
    machine.write_word(site.setup(), site.setup_word());
}

template <MachineConcept M>
PatchSite patch_site(M& machine, Address function) {
    return {function, machine.read_word(function) == arch::landing_pad};
}
// The word before a site's BL is its setup word.
template <typename M>
bool is_site_call(M& machine, Address address) {
    return machine.read_word(address - 8) == arch::save_link;
}

}  // namespace nopscope
