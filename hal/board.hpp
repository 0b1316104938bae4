// SPDX-License-Identifier: Apache-2.0
// What tells one board from another: a table. A board is hal/boards/NAME.cpp, which defines
// `board`, and linker/NAME.ld, its memory map. Nothing outside hal/boards/ names a board.
#pragma once

#include <cstdint>
#include <span>

namespace nopscope::hal {

struct DeviceRange {  // mapped as device memory; both multiples of 4 KiB
    std::uint64_t base;
    std::uint64_t bytes;
};

enum class UartKind : std::uint8_t { pl011, cadence, mini };

struct UartConfig {
    UartKind kind;
    std::uint64_t base;
    unsigned interrupt;
    std::uint32_t baud;  // after the boot report, which is sent at 115200
    // What clocks it, after whatever the board must set up first (pins, clocks). Zero: the rate of
    // an emulated UART, which has no divisors worth setting. Called once, MMU and caches off, the UART disabled.
    std::uint32_t (*prepare_clock_hz)();
};

enum class Controller : std::uint8_t { gic_v2, gic_v3, bcm2836 };

struct InterruptConfig {
    Controller controller;
    std::uint64_t base;    // GIC: the distributor; BCM2836: the cores' own registers
    std::uint64_t second;  // GICv2: the CPU interface; v3: the first redistributor; BCM2836: the VideoCore's
};

enum class Psci : std::uint8_t {
    none,
    // 1.0 or later, by SMC: there is firmware at EL3.
    by_smc,
    // The same, but by HVC when entered at EL1: there is a hypervisor in between. An image entered at EL2
    // is the hypervisor itself.
    from_above,
};

// Cores that the boot firmware leaves waiting, MMU off, each for its own 64-bit word to become an
// address, and going there: how boards without PSCI start them (Linux: "spin-table").
struct SpinTable {
    std::uint64_t first_word = 0;  // the boot core's; the others' follow. All in one page
    unsigned cores = 1;            // with the boot core
};

// What the boot firmware says of the clocks, in Hz; 0: not said.
struct FirmwareClocks {
    bool is_silent = false;  // it does not answer
    std::uint32_t arm_hz = 0;
    std::uint32_t core_hz = 0;  // the VideoCore's
};

struct BoardTable {
    const char* name;
    UartConfig uart;
    InterruptConfig interrupts;
    Psci psci;
    SpinTable spin_table = {};  // where there is no PSCI
    std::span<const DeviceRange> devices;
    // End of the memory that is ours, where only the running board knows; null: as linked. Called
    // once, MMU and caches off.
    std::uint64_t (*ram_end)();
    // Null: there is nobody to ask. Called once, MMU and caches off, after the UART's prepare_clock_hz.
    FirmwareClocks (*firmware_clocks)() = nullptr;
    // Resets the machine, where there is no PSCI that does; null: nothing can.
    void (*reset)();
    // The memory's contents survive a reset, and the loader leaves them alone.
    bool memory_survives_reset = false;
};

extern const BoardTable board;

}  // namespace nopscope::hal
