// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/arch/arm64/arm64.hpp"

#include "host-tools/image/arch/arm64/a64.hpp"

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

}  // namespace

constinit const Arch arch{
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
    .new_disassembler = new_disassembler,

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
