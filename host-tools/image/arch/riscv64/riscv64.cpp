// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/arch/riscv64/riscv64.hpp"

#include "host-tools/image/arch/riscv64/rv64.hpp"

namespace nopscope::host::riscv64 {

constinit const Arch arch{
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
    .new_disassembler = new_disassembler,

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
