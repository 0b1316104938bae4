// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "host-tools/image/arch/arch.hpp"
#include "host-tools/image/arch/riscv64/rv64.hpp"
#include "host-tools/image/elf_file.hpp"
#include "host-tools/image/symbols.hpp"

namespace nopscope::host::riscv64 {
namespace {

using rv64::Decoded;
using rv64::Kind;

constexpr std::uint32_t bit(unsigned number) { return std::uint32_t{1} << number; }
// What a call may change: ra, t0 to t6, a0 to a7.
constexpr std::uint32_t call_clobbered = 0xf003fce2;
// A site changes t0, and a hook t0, t1 and t3 to t6. (t2 is GCC's static chain.)
constexpr std::uint32_t changed_by_hooks = bit(6) | 0xf0000000;
// A return address is in one of these (the ISA's hints for return-address stacks).
constexpr bool is_link(unsigned number) { return number == rv64::ra || number == rv64::t0; }
// Whether it is JALR to a link register. It is a return, unless the register has an address.
bool is_return(const Decoded& one) {
    return one.kind == Kind::jalr && one.rd == 0 && is_link(one.rs1);
}

// Follows AUIPC and LUI with a later ADDI, LD or JALR at that register, and what the linker has
// made of them where they reach from gp.
class Scan final : public CodeScan {
public:
    explicit Scan(const ElfFile& elf)
        : elf_(elf), global_pointer_(elf.symbol_address("__global_pointer$")) {
        Scan::forget();
    }

    void forget() override {
        upper_ = {};
        upper_[rv64::gp] = global_pointer_;
    }
    Instruction step(std::uint64_t at, std::uint32_t word) override {
        const Decoded one = rv64::decode(word);
        std::optional<std::uint64_t> sum = upper_[one.rs1];
        if (sum) *sum += static_cast<std::uint64_t>(one.immediate);
        Instruction is{.bytes = one.bytes, .flow = flow_of(one, at, sum)};
        if (one.kind == Kind::addi) is.made = sum;
        if (one.kind == Kind::ld && sum) is.made = elf_.quad_at(*sum);
        write(one, at);
        return is;
    }

private:
    static Flow flow_of(const Decoded& one, std::uint64_t at, std::optional<std::uint64_t> sum) {
        if (one.kind == Kind::branch || one.kind == Kind::jal) {
            return {one.rd != 0 ? Flow::Kind::call : Flow::Kind::jump,
                    at + static_cast<std::uint64_t>(one.immediate)};
        }
        if (one.kind != Kind::jalr) return {};
        if (sum) return {one.rd != 0 ? Flow::Kind::call : Flow::Kind::jump, *sum};
        if (is_return(one)) return {};
        return {one.rd != 0 ? Flow::Kind::indirect_call : Flow::Kind::indirect_jump};
    }
    void write(const Decoded& one, std::uint64_t at) {
        const bool is_call = (one.kind == Kind::jal || one.kind == Kind::jalr) && one.rd != 0;
        for (unsigned number = 1; is_call && number < upper_.size(); ++number) {
            if ((call_clobbered & bit(number)) != 0) upper_[number].reset();
        }
        if (one.rd == 0 || one.rd == rv64::gp) return;
        upper_[one.rd].reset();
        const auto immediate = static_cast<std::uint64_t>(one.immediate);
        if (one.kind == Kind::auipc) upper_[one.rd] = at + immediate;
        if (one.kind == Kind::lui) upper_[one.rd] = immediate;
    }

    const ElfFile& elf_;
    const std::optional<std::uint64_t> global_pointer_;
    std::array<std::optional<std::uint64_t>, 32> upper_{};  // upper parts, by register
};

// The first function after this address, or the end of all.
std::uint64_t next_function(const ElfFile& elf, std::uint64_t address) {
    const auto& symbols = elf.symbols();
    auto at = std::ranges::upper_bound(symbols, address, {}, &ElfSymbol::address);
    at = std::find_if(at, symbols.end(), [](const ElfSymbol& one) { return one.is_function(); });
    return at == symbols.end() ? ~std::uint64_t{0} : at->address;
}

constexpr std::uint64_t part_bytes = 8;  // of the slot, and of the two words

// Whether whole NOPs, of the lengths for which `lengths` has a bit, fill the range.
bool has_nops(const ElfFile& elf, std::uint64_t begin, std::uint64_t bytes, unsigned lengths = 6) {
    const std::uint64_t end = begin + bytes;
    std::uint64_t at = begin;
    while (at < end) {
        const std::uint32_t word = elf.code_at(at).value_or(0);
        const unsigned length = word == rv64::nop ? 4 : (word & 0xffff) == rv64::short_nop ? 2 : 0;
        if ((lengths & length) == 0) return false;
        at += length;
    }
    return at == end;
}

bool is_function(const ElfFile& elf, std::uint64_t address) {
    const ElfSymbol* const symbol = symbol_at(elf, address);
    return symbol != nullptr && symbol->is_function();
}

std::unique_ptr<CodeScan> scan(const ElfFile& elf) { return std::make_unique<Scan>(elf); }

std::optional<std::uint64_t> pc_relative_target(std::uint64_t address, std::uint32_t word) {
    const Decoded one = rv64::decode(word);
    if (one.kind != Kind::branch && one.kind != Kind::jal) return std::nullopt;
    return address + static_cast<std::uint64_t>(one.immediate);
}

// An interrupt's function (GCC's attribute `interrupt`) saves each temporary that it changes before
// it changes it, and ends by MRET or SRET. Its site's AUIPC changes t0 before.
bool takes_register_of_caller(const ElfFile& elf, std::uint64_t body) {
    constexpr unsigned most_instructions = 4096;
    std::uint32_t touched = 0;
    bool saves = false, has_left = false;
    const std::uint64_t end = next_function(elf, body);
    for (unsigned n = 0; n < most_instructions && body < end; ++n) {
        const auto word = elf.code_at(body);
        if (!word) return false;
        if (*word == rv64::mret || *word == rv64::sret) return saves;
        const Decoded one = rv64::decode(*word);
        body += one.bytes;
        if (is_return(one)) return false;
        if (has_left) continue;
        const std::uint32_t taken = (bit(one.rs1) | bit(one.rs2)) & ~touched & ~bit(0);
        if ((taken & changed_by_hooks) != 0) return true;
        saves |= one.kind == Kind::store && one.rs1 == rv64::sp &&
                 (taken & bit(one.rs2) & call_clobbered & ~bit(rv64::ra)) != 0;
        touched |= bit(one.rd);
        has_left = one.kind == Kind::jal || one.kind == Kind::jalr;
        if (has_left && !saves) return false;
    }
    return false;
}

// A site has 8 bytes of NOPs before the function and 8 at its entry. The NOPs have 2 bytes with
// compressed instructions (-fpatchable-function-entry=8,4), and 4 without (=4,2).
std::optional<SiteWords> site_words(const ElfFile& elf, std::uint64_t address) {
    if (address < part_bytes) return std::nullopt;
    const auto word = [&](std::uint64_t at) { return elf.word_at(at).value_or(0); };
    const SiteWords site{.setup_address = address, .word_address = address + 4};
    const bool untouched =
        has_nops(elf, address - part_bytes, part_bytes) && has_nops(elf, address, part_bytes);
    const std::uint32_t second = word(site.word_address);
    const bool initialised = rv64::is_auipc_t0(word(site.setup_address)) &&
                             (second == rv64::nop || rv64::is_jalr_t0(second));
    if (!untouched && !initialised) return std::nullopt;
    return site;
}

// The entry is that of the first NOP, and `address` 8 bytes after it.
const char* site_remedy(const ElfFile& elf, std::uint64_t address) {
    if (has_nops(elf, address - part_bytes, 8, 2) && is_function(elf, address - 4)) {
        return "its NOPs have 2 bytes, so compile its file with -fpatchable-function-entry=8,4";
    }
    if (has_nops(elf, address - part_bytes, 16, 4) && is_function(elf, address + part_bytes)) {
        return "its NOPs have 4 bytes, so compile its file with -fpatchable-function-entry=4,2";
    }
    return nullptr;
}

}  // namespace

extern constinit const Arch arch{
    .name = "riscv64",
    .landing_pad_text = nullptr,
    .breakpoint_text = "EBREAK",
    .setup_text = "auipc t0",
    .call_text = "jalr t0",
    .pmu_name = nullptr,
    .event_registers = nullptr,
    .hypervisor_level = nullptr,
    .timer_name = "rdtime",
    .cycles_name = "rdcycle",
    .arguments = {"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"},
    .emulator = "qemu-system-riscv64",
    .compilers = {"riscv64-unknown-elf-gcc", "riscv64-linux-gnu-gcc"},
    .compiler_fix = "apt install gcc-riscv64-unknown-elf",

    // RISC-V ELF psABI: EM_RISCV, R_RISCV_RELATIVE.
    .machine = 243,
    .narrow_elf =
        "is an image for RV32, and nopscope reads images for RV64: compile and link it "
        "with -march=rv64gc -mabi=lp64d or the like",
    .relative_relocation = 3,
    .feature_property = 0xc0000000,  // GNU_PROPERTY_RISCV_FEATURE_1_AND
    .landing_pads_feature = 0,

    .least_bytes = 2,
    .body_distances = {8, 8},
    .scan = scan,
    .pc_relative_target = pc_relative_target,
    .is_landing_pad = [](std::uint32_t) { return false; },
    .is_site_landing_pad = [](std::uint32_t) { return false; },
    .is_breakpoint =
        [](std::uint32_t word) {
            return word == rv64::ebreak || (word & 0xffff) == rv64::short_ebreak;
        },
    // Whatever the image's attributes say: none of these extensions' instructions means another
    // thing without it.
    .llvm_triple = "riscv64-unknown-elf",
    .llvm_features = "+m,+a,+f,+d,+c,+zba,+zbb,+zbc,+zbs,+zfh,+v",

    .site_words = site_words,
    .site_remedy = site_remedy,

    // GCC 12 and clang 19 have no calling convention for RV64 whose callers count on a register
    // that a hook changes: they ignore preserve_most and the like with a warning.
    .broken_convention = [](unsigned) -> const char* { return nullptr; },
    .harmless_words = [](unsigned) { return 0u; },
    .takes_register_of_caller = takes_register_of_caller,
    .broken_by_its_code =
        "takes a register of t0, t1 and t3 to t6 from its caller, or is an "
        "interrupt's",
    .broken_by_its_callers =
        "has callers that may keep values in t0, t1 and t3 to t6 (GCC's -fipa-ra)",

    .paths = {.graph = 68, .tail = 11, .hook_before_clock = 10, .hook_after_clock = 19},
};

}  // namespace nopscope::host::riscv64
