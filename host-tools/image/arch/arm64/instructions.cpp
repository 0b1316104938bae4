// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/arch/arm64/a64.hpp"
#include "host-tools/image/arch/arm64/arm64.hpp"
#include "host-tools/image/elf_file.hpp"

namespace nopscope::host::arm64 {
namespace {

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
}  // namespace

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

}  // namespace nopscope::host::arm64
