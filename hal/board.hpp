// SPDX-License-Identifier: Apache-2.0
// One table describes a board. hal/boards/NAME.cpp defines `board`, and linker/NAME.ld is the
// memory map. No file outside hal/boards/ names a board.
#pragma once

#include <cstdint>
#include <span>

#include "hal/arch.hpp"

namespace nopscope::hal {

struct DeviceRange {  // mapped as device memory; both multiples of 4 KiB
    std::uint64_t base;
    std::uint64_t bytes;
};

enum class UartKind : std::uint8_t { pl011, cadence, mini, ns16550 };

struct UartConfig {
    UartKind kind;
    std::uint64_t base;
    unsigned interrupt;
    std::uint32_t baud;  // after the boot report, which is always at 115200
    // Sets up pins and clocks, and returns the UART's clock in Hz. Zero, or a null pointer: an
    // emulated UART, whose divisors have no effect. Called once, MMU and caches off, UART disabled.
    std::uint32_t (*prepare_clock_hz)() = nullptr;
};

enum class Controller : std::uint8_t { gic_v2, gic_v3, bcm2836, clint_plic };

struct InterruptConfig {
    Controller controller;
    // GIC: the distributor; BCM2836: the registers of each core; CLINT
    std::uint64_t base;
    // GICv2: CPU interface; v3: first redistributor; BCM2836: VideoCore; PLIC
    std::uint64_t second;
};

// What the boot firmware says about the clocks, in Hz; 0: not known.
struct FirmwareClocks {
    bool is_silent = false;  // the firmware does not answer
    std::uint32_t arm_hz = 0;
    std::uint32_t core_hz = 0;  // the VideoCore's
};

struct BoardTable {
    const char* name;
    UartConfig uart;
    InterruptConfig interrupts;
    CoreStart core_start;
    std::span<const DeviceRange> devices;
    // The end of our memory, if only the running board knows it; null: the linker script says it.
    // Called once, MMU and caches off.
    std::uint64_t (*ram_end)() = nullptr;
    // Null: no such firmware. Called once, after prepare_clock_hz, MMU and caches off.
    FirmwareClocks (*firmware_clocks)() = nullptr;
    // The rate of clock() in Hz; 0: the CPU tells it.
    std::uint64_t counter_hz = 0;
    // Ends the machine without semihosting; null: the boot firmware does it.
    void (*power_off)(int status) = nullptr;
    // Resets the machine if the boot firmware cannot; null: the board has no other way.
    void (*reset)() = nullptr;
    // RAM keeps its contents over a reset, and the loader does not overwrite them.
    bool memory_survives_reset = false;
};

extern const BoardTable board;

}  // namespace nopscope::hal
