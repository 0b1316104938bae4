// SPDX-License-Identifier: Apache-2.0
// System registers: read_NAME and write_NAME for those that the HAL uses, and structs with named
// fields for those that have fields. Field positions: Arm ARM DDI 0487, chapter D19.
#pragma once

#include <cstdint>

namespace nopscope::hal {

// ENCODING is the assembler's name. It is S<op0>_<op1>_C<n>_C<m>_<op2> if the assembler knows the
// name only with an architecture extension.
#define NOPSCOPE_SYSTEM_REGISTER(NAME, ENCODING)                           \
    [[gnu::always_inline]] inline std::uint64_t read_##NAME() {            \
        std::uint64_t value;                                               \
        asm volatile("mrs %0, " ENCODING : "=r"(value)::"memory");         \
        return value;                                                      \
    }                                                                      \
    [[gnu::always_inline]] inline void write_##NAME(std::uint64_t value) { \
        asm volatile("msr " ENCODING ", %0" ::"r"(value) : "memory");      \
    }

NOPSCOPE_SYSTEM_REGISTER(ctr_el0, "ctr_el0")
NOPSCOPE_SYSTEM_REGISTER(daif, "daif")
NOPSCOPE_SYSTEM_REGISTER(id_aa64isar1_el1, "id_aa64isar1_el1")
NOPSCOPE_SYSTEM_REGISTER(id_aa64isar2_el1, "S3_0_C0_C6_2")
NOPSCOPE_SYSTEM_REGISTER(id_aa64pfr0_el1, "id_aa64pfr0_el1")
NOPSCOPE_SYSTEM_REGISTER(id_aa64pfr1_el1, "id_aa64pfr1_el1")
NOPSCOPE_SYSTEM_REGISTER(id_aa64mmfr0_el1, "id_aa64mmfr0_el1")
NOPSCOPE_SYSTEM_REGISTER(id_aa64dfr0_el1, "id_aa64dfr0_el1")
NOPSCOPE_SYSTEM_REGISTER(mair_el1, "mair_el1")
NOPSCOPE_SYSTEM_REGISTER(midr_el1, "midr_el1")
NOPSCOPE_SYSTEM_REGISTER(mpidr_el1, "mpidr_el1")
NOPSCOPE_SYSTEM_REGISTER(revidr_el1, "revidr_el1")
NOPSCOPE_SYSTEM_REGISTER(sctlr_el1, "sctlr_el1")
NOPSCOPE_SYSTEM_REGISTER(tcr_el1, "tcr_el1")
NOPSCOPE_SYSTEM_REGISTER(ttbr0_el1, "ttbr0_el1")
NOPSCOPE_SYSTEM_REGISTER(cntvct_el0, "cntvct_el0")
NOPSCOPE_SYSTEM_REGISTER(cntfrq_el0, "cntfrq_el0")
NOPSCOPE_SYSTEM_REGISTER(cntv_cval_el0, "cntv_cval_el0")
NOPSCOPE_SYSTEM_REGISTER(cntv_ctl_el0, "cntv_ctl_el0")
NOPSCOPE_SYSTEM_REGISTER(pmcr_el0, "pmcr_el0")
NOPSCOPE_SYSTEM_REGISTER(pmcntenset_el0, "pmcntenset_el0")
NOPSCOPE_SYSTEM_REGISTER(pmccfiltr_el0, "pmccfiltr_el0")
NOPSCOPE_SYSTEM_REGISTER(pmccntr_el0, "pmccntr_el0")
NOPSCOPE_SYSTEM_REGISTER(icc_sre_el1, "S3_0_C12_C12_5")
NOPSCOPE_SYSTEM_REGISTER(icc_pmr_el1, "S3_0_C4_C6_0")
NOPSCOPE_SYSTEM_REGISTER(icc_bpr1_el1, "S3_0_C12_C12_3")
NOPSCOPE_SYSTEM_REGISTER(icc_ctlr_el1, "S3_0_C12_C12_4")
NOPSCOPE_SYSTEM_REGISTER(icc_ap1r0_el1, "S3_0_C12_C9_0")
NOPSCOPE_SYSTEM_REGISTER(icc_ap1r1_el1, "S3_0_C12_C9_1")
NOPSCOPE_SYSTEM_REGISTER(icc_ap1r2_el1, "S3_0_C12_C9_2")
NOPSCOPE_SYSTEM_REGISTER(icc_ap1r3_el1, "S3_0_C12_C9_3")
NOPSCOPE_SYSTEM_REGISTER(icc_igrpen1_el1, "S3_0_C12_C12_7")
NOPSCOPE_SYSTEM_REGISTER(icc_iar1_el1, "S3_0_C12_C12_0")
NOPSCOPE_SYSTEM_REGISTER(icc_eoir1_el1, "S3_0_C12_C12_1")
NOPSCOPE_SYSTEM_REGISTER(icc_sgi1r_el1, "S3_0_C12_C11_5")
NOPSCOPE_SYSTEM_REGISTER(apia_key_lo_el1, "S3_0_C2_C1_0")
NOPSCOPE_SYSTEM_REGISTER(apia_key_hi_el1, "S3_0_C2_C1_1")
NOPSCOPE_SYSTEM_REGISTER(apib_key_lo_el1, "S3_0_C2_C1_2")
NOPSCOPE_SYSTEM_REGISTER(apib_key_hi_el1, "S3_0_C2_C1_3")
NOPSCOPE_SYSTEM_REGISTER(apda_key_lo_el1, "S3_0_C2_C2_0")
NOPSCOPE_SYSTEM_REGISTER(apda_key_hi_el1, "S3_0_C2_C2_1")
NOPSCOPE_SYSTEM_REGISTER(apdb_key_lo_el1, "S3_0_C2_C2_2")
NOPSCOPE_SYSTEM_REGISTER(apdb_key_hi_el1, "S3_0_C2_C2_3")
#undef NOPSCOPE_SYSTEM_REGISTER

[[gnu::always_inline]] inline void isb() { asm volatile("isb" ::: "memory"); }

constexpr unsigned field(std::uint64_t value, unsigned low, unsigned bits) {
    return static_cast<unsigned>(value >> low & ((std::uint64_t{1} << bits) - 1));
}

struct Sctlr {
    bool mmu = false;
    bool dcache = false;
    bool icache = false;
    bool check_sp = false;              // SA: SP must be 16-byte aligned
    bool write_never_executes = false;  // WXN
    bool strict_pac_landing = false;    // BT1: BR may land on PACIASP only through x16, x17
    bool pac = false;                   // EnIA, EnIB, EnDA, EnDB

    constexpr std::uint64_t bits() const {
        // RES1 in Armv8.0: LSMAOE, nTLSMD, SPAN, EIS, TSCXT, EOS.
        std::uint64_t value = 1u << 29 | 1u << 28 | 1u << 23 | 1u << 22 | 1u << 20 | 1u << 11;
        const auto set = [&value](bool on, unsigned bit) {
            if (on) value |= std::uint64_t{1} << bit;
        };
        set(mmu, 0);
        set(dcache, 2);
        set(check_sp, 3);
        set(icache, 12);
        set(write_never_executes, 19);
        set(strict_pac_landing, 36);
        set(pac, 31);
        set(pac, 30);
        set(pac, 27);
        set(pac, 13);
        return value;
    }
};
static_assert(Sctlr{}.bits() == 0x30d0'0800);
static_assert(Sctlr{.mmu = true, .dcache = true, .icache = true}.bits() == 0x30d0'1805);

struct Tcr {
    unsigned t0sz = 25;                  // 2^(64 - t0sz) bytes of virtual addresses
    unsigned physical_address_size = 0;  // as ID_AA64MMFR0_EL1.PARange

    constexpr std::uint64_t bits() const {
        constexpr std::uint64_t write_back = 1;
        constexpr std::uint64_t inner_shareable = 3;
        constexpr std::uint64_t upper_half_off = std::uint64_t{1} << 23;  // EPD1
        return t0sz | write_back << 8 | write_back << 10 | inner_shareable << 12 | upper_half_off |
               std::uint64_t{2} << 30 /* TG1: 4 KiB */ | std::uint64_t{physical_address_size} << 32;
    }
};
static_assert(Tcr{.t0sz = 25, .physical_address_size = 2}.bits() == 0x2'8080'3519);

struct Esr {
    std::uint64_t value;
    constexpr unsigned exception_class() const { return field(value, 26, 6); }
    // Data and instruction aborts.
    constexpr unsigned fault_status() const { return field(value, 0, 6); }
    constexpr bool is_write() const { return field(value, 6, 1) != 0; }
    constexpr bool is_data_abort() const {
        return exception_class() == 0x24 || exception_class() == 0x25;
    }
    constexpr bool is_abort() const {
        return is_data_abort() || exception_class() == 0x20 || exception_class() == 0x21;
    }
};

// ESR_ELx.EC, the classes named in code.
enum class ExceptionClass : unsigned {
    unknown = 0x00,
    branch_target = 0x0d,
    instruction_abort = 0x21,
    pc_alignment = 0x22,
    data_abort = 0x25,
    sp_alignment = 0x26,
    brk = 0x3c,
};

struct CpuFeatures {
    bool bti;
    bool pac;
    bool pmu;

    static CpuFeatures read() {
        const std::uint64_t isar1 = read_id_aa64isar1_el1();
        const unsigned pmu_version = field(read_id_aa64dfr0_el1(), 8, 4);
        constexpr unsigned not_architected = 15;
        return {
            .bti = field(read_id_aa64pfr1_el1(), 0, 4) != 0,
            .pac = field(isar1, 4, 4) != 0 || field(isar1, 8, 4) != 0 ||
                   field(read_id_aa64isar2_el1(), 12, 4) != 0,
            .pmu = pmu_version != 0 && pmu_version != not_architected,
        };
    }
};

}  // namespace nopscope::hal
