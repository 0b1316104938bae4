// SPDX-License-Identifier: Apache-2.0
// The C++ half of boot; boot.S has the order. nopscope_boot_early runs with the MMU off. All memory
// is device memory then: no unaligned access and no exclusives.
#include "hal/arm64/boot.hpp"
#include "hal/arm64/asm.hpp"
#include "hal/arm64/mmu.hpp"
#include "hal/arm64/registers.hpp"
#include "hal/boot_report.hpp"
#include "hal/console.hpp"
#include "hal/hal.hpp"
#include "hal/parts.hpp"

namespace nopscope::hal {

namespace {

unsigned entered_at;

// Not secret, but a pointer that was signed in another boot or with another key fails.
std::uint64_t next_key(std::uint64_t& state) {
    state += 0x9e37'79b9'7f4a'7c15 + read_cntvct_el0();  // SplitMix64, Steele et al. 2014
    std::uint64_t z = state;
    z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9;
    z = (z ^ z >> 27) * 0x94d0'49bb'1331'11eb;
    return z ^ z >> 31;
}

void set_pac_keys() {
    std::uint64_t state = 0;
    write_apia_key_lo_el1(next_key(state));
    write_apia_key_hi_el1(next_key(state));
    write_apib_key_lo_el1(next_key(state));
    write_apib_key_hi_el1(next_key(state));
    write_apda_key_lo_el1(next_key(state));
    write_apda_key_hi_el1(next_key(state));
    write_apdb_key_lo_el1(next_key(state));
    write_apdb_key_hi_el1(next_key(state));
}

void start_cycle_counter() {
    if (!CpuFeatures::read().pmu) return;
    constexpr std::uint64_t enable = 1 << 0;
    constexpr std::uint64_t reset_cycles = 1 << 2;
    constexpr std::uint64_t count_64_bits = 1 << 6;
    write_pmccfiltr_el0(0);
    write_pmcr_el0(enable | reset_cycles | count_64_bits);
    write_pmcntenset_el0(std::uint64_t{1} << 31);
    isb();
}

}  // namespace

void finish_core_setup() {
    start_cycle_counter();
    asm volatile("msr daifclr, #4" ::: "memory");  // reports asynchronous aborts (SError)
}

unsigned boot_exception_level() { return entered_at; }

}  // namespace nopscope::hal

using namespace nopscope::hal;

std::uint64_t nopscope_boot_early(unsigned exception_level, std::uint64_t device_tree) {
    entered_at = exception_level;
    uart_start();
    print_boot_report(exception_level == 2 ? "2" : "1", device_tree);
    uart_go_on_at_board_rate();
    mmu_prepare();
    const CpuFeatures features = CpuFeatures::read();
    if (features.pac) set_pac_keys();
    return Sctlr{
        .mmu = true,
        .dcache = true,
        .icache = true,
        .check_sp = true,
        .write_never_executes = true,
        .strict_pac_landing = features.bti,
        .pac = features.pac,
    }
        .bits();
}
