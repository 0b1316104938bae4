// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/arch/arch.hpp"
#include "host-tools/image/arch/arm64/a64.hpp"
#include "host-tools/image/elf_file.hpp"

namespace nopscope::host::arm64 {
namespace {

// An entry hook changes x9 to x17, and a return hook x9 to x17 and x30. AAPCS64 lets each function
// change them, and passes nothing in them. A return hook finds its call by SP, which the callee has
// to leave as it was.
constexpr unsigned swift_tail = 0xcf;

// DW_CC_LLVM_* (llvm/BinaryFormat/Dwarf.def). The others are harmless: Swift (0xc8) has its values
// in x20 to x22, and AAPCS (0xc3, aarch64_vector_pcs and aarch64_sve_pcs) keeps vector registers,
// which no hook changes.
const char* broken_convention(unsigned convention) {
    switch (convention) {
    case 0xc9: return "must keep x9 to x15 (preserve_most)";
    case 0xca: return "must keep x9 to x15 (preserve_all)";
    case 0xcd: return "may take arguments in x9 to x15 (preserve_none)";
    case swift_tail: return "takes its arguments off the stack (swiftasynccall)";
    default: return nullptr;
    }
}

// Arguments in x0 to x7 only. clang 19 has room for 17 words of preserve_none before x9 to x15, but
// its manual says that this may change.
unsigned harmless_words(unsigned convention) { return convention == swift_tail ? 8 : 0; }

Flow flow_of(std::uint64_t address, std::uint32_t word) {
    if (a64::is_bl(word)) return {Flow::Kind::call, address + a64::branch26_offset(word)};
    if (a64::is_b(word)) return {Flow::Kind::jump, address + a64::branch26_offset(word)};
    if (a64::is_conditional_branch(word) || a64::is_compare_branch(word)) {
        return {Flow::Kind::jump, address + a64::literal_offset(word)};
    }
    if (a64::is_test_branch(word)) return {Flow::Kind::jump, address + a64::branch14_offset(word)};
    if (a64::is_blr(word)) return {Flow::Kind::indirect_call};
    if (a64::is_br(word)) return {Flow::Kind::indirect_jump};
    return {};
}

// Follows ADR, ADRP with a later ADD to that register, and LDR from a literal.
class Scan final : public CodeScan {
public:
    explicit Scan(const ElfFile& elf) : elf_(elf) {}

    void forget() override { pages_ = {}; }
    Instruction step(std::uint64_t at, std::uint32_t word) override {
        return {.flow = flow_of(at, word), .made = made(at, word)};
    }

private:
    std::optional<std::uint64_t> made(std::uint64_t at, std::uint32_t word);

    const ElfFile& elf_;
    std::array<std::optional<std::uint64_t>, 32> pages_{};  // upper parts, by register
};

std::optional<std::uint64_t> Scan::made(std::uint64_t at, std::uint32_t word) {
    constexpr std::uint64_t page_mask = 0xfff;
    constexpr unsigned last_call_clobbered = 18;  // AAPCS64: a call keeps x19 and above
    const unsigned d = a64::rd(word);
    if (a64::is_adrp(word)) {
        pages_[d] = (at & ~page_mask) + (a64::adr_immediate(word) << 12);
        return std::nullopt;
    }
    if (a64::is_bl(word)) {
        for (unsigned i = 0; i <= last_call_clobbered; ++i) pages_[i].reset();
        return std::nullopt;
    }
    std::optional<std::uint64_t> made;
    if (a64::is_adr(word)) {
        made = at + a64::adr_immediate(word);
    } else if (a64::is_add_immediate(word)) {
        if (const auto page = pages_[a64::rn(word)]) made = *page + a64::add_immediate(word);
    } else if (a64::is_ldr_literal(word)) {
        made = elf_.quad_at(at + a64::literal_offset(word));
    } else if (!a64::writes_rd(word) && !a64::is_single_load(word)) {
        return std::nullopt;
    }
    pages_[d].reset();
    return made;
}

std::unique_ptr<CodeScan> scan(const ElfFile& elf) { return std::make_unique<Scan>(elf); }

std::optional<std::uint64_t> pc_relative_target(std::uint64_t address, std::uint32_t word) {
    using namespace a64;
    if (is_b(word) || is_bl(word)) return address + branch26_offset(word);
    if (is_conditional_branch(word) || is_compare_branch(word) || is_any_literal_load(word))
        return address + literal_offset(word);
    if (is_test_branch(word)) return address + branch14_offset(word);
    if (is_adr(word)) return address + adr_immediate(word);
    if (is_adrp(word)) return (address & ~std::uint64_t{0xfff}) + (adr_immediate(word) << 12);
    return std::nullopt;
}

bool is_breakpoint(std::uint32_t word) {
    constexpr std::uint32_t brk = 0xd4200000, immediate = 0x001fffe0;  // BRK #imm16
    return (word & ~immediate) == brk;
}

bool takes_register_of_caller(const ElfFile& elf, std::uint64_t body) {
    constexpr std::uint32_t x9_to_x15 = 0xfe00;
    constexpr unsigned most_instructions = 64, sp = 31;
    const auto bit = [](std::uint32_t number) { return std::uint32_t{1} << (number & 31); };
    // Registers that an instruction may have written. Each field that may be a register counts.
    std::uint32_t touched = 0;
    for (unsigned n = 0; n < most_instructions; ++n) {
        const std::uint32_t word = elf.word_at(body + 4 * n).value_or(0);
        const Flow::Kind flow = flow_of(0, word).kind;
        // BR, BLR, RET and ERET, of all forms; SVC, HVC, SMC and BRK
        const bool leaves = a64::is_b(word) || flow == Flow::Kind::call || (word >> 25) == 0x6b ||
                            (word >> 24) == 0xd4;
        if (word == 0 || leaves) return false;
        const std::uint32_t second = word >> 10;
        std::uint32_t taken = 0;
        if (a64::is_memory_access(word) && !a64::is_any_literal_load(word))
            taken = bit(a64::rn(word));
        if (a64::is_store(word) && a64::rn(word) == sp) taken |= bit(a64::rd(word));
        if (a64::is_pair_store(word) && a64::rn(word) == sp)
            taken |= bit(a64::rd(word)) | bit(second);
        if ((taken & ~touched & x9_to_x15) != 0) return true;
        touched |= bit(word) | bit(word >> 5) | bit(second) | bit(word >> 16);
    }
    return false;
}

// -fpatchable-function-entry=4,2 puts two NOPs before the function and two at its entry, after BTI
// C if there is one (tracer/arch/arm64/patch_site.hpp).
std::optional<SiteWords> site_words(const ElfFile& elf, std::uint64_t address) {
    const auto word = [&](std::uint64_t at) { return elf.word_at(at).value_or(0); };
    if (address < 8) return std::nullopt;
    SiteWords site;
    site.has_landing_pad = word(address) == a64::bti_c;
    site.setup_address = address + (site.has_landing_pad ? 4 : 0);
    site.word_address = site.setup_address + 4;
    const std::uint32_t first = word(site.setup_address);
    const std::uint32_t second = word(site.word_address);
    const bool untouched = first == a64::nop && second == a64::nop &&
                           word(address - 8) == a64::nop && word(address - 4) == a64::nop;
    const bool initialised = first == a64::mov_x9_x30 && (second == a64::nop || a64::is_bl(second));
    if (!untouched && !initialised) return std::nullopt;
    return site;
}

}  // namespace

extern constinit const Arch arch{
    .name = "arm64",
    .landing_pad_text = "bti c",
    .breakpoint_text = "BRK",
    .setup_text = "mov x9, x30",
    .call_text = "bl",
    .pmu_name = "PMUv3",
    .event_registers = "PMCEID0_EL0 and PMCEID1_EL0",
    .hypervisor_level = "EL2",
    .timer_name = "cntvct",
    .cycles_name = "pmccntr",
    .arguments = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"},
    .emulator = "qemu-system-aarch64",
    .compilers = {"aarch64-none-elf-gcc", "aarch64-linux-gnu-gcc"},
    .compiler_fix = "apt install gcc-aarch64-linux-gnu, or Arm's GNU Toolchain's bin/ on PATH",

    // ELF for the Arm 64-bit Architecture (AAELF64): EM_AARCH64, R_AARCH64_RELATIVE,
    // GNU_PROPERTY_AARCH64_FEATURE_1_AND and _BTI.
    .machine = 183,
    .narrow_elf = nullptr,
    .relative_relocation = 1027,
    .feature_property = 0xc0000000,
    .landing_pads_feature = 1,

    .least_bytes = 4,
    .body_distances = {8, 12},
    .scan = scan,
    .pc_relative_target = pc_relative_target,
    .is_landing_pad = a64::is_landing_pad,
    .is_site_landing_pad = [](std::uint32_t word) { return word == a64::bti_c; },
    .is_breakpoint = is_breakpoint,
    // All features of the architecture. Any other instruction belongs to a separate extension.
    .llvm_triple = "aarch64-none-elf",
    .llvm_features = "+v9.3a,+crypto,+sve2,+mte,+ssbs,+fullfp16,+rand",

    .site_words = site_words,
    .site_remedy = [](const ElfFile&, std::uint64_t) -> const char* { return nullptr; },

    .broken_convention = broken_convention,
    .harmless_words = harmless_words,
    .takes_register_of_caller = takes_register_of_caller,
    .broken_by_its_code = "takes a register of x9 to x15 from its caller",
    .broken_by_its_callers = "has callers that may keep values in x9 to x17 (GCC's -fipa-ra)",

    .paths = {.graph = 52, .tail = 14, .hook_before_clock = 11, .hook_after_clock = 10},
};

}  // namespace nopscope::host::arm64
