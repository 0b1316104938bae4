// SPDX-License-Identifier: Apache-2.0
#include "tracer/core/cores.hpp"

#include "tracer/arch/machine.hpp"
#include "tracer/arch/system.hpp"

namespace nopscope {

constinit bool initialised = false;
constinit std::uint32_t joined_cores = 0;
constinit bool durations_used = false;
constinit protocol::Hello hello;
constinit SiteTable sites;
constinit InForce in_force;
constinit Core core_states[max_cores]{};
[[gnu::section(".nopscope.ring")]] CoreMemory core_memory[max_cores];

namespace {

constexpr std::uint32_t thread_context = 0;
void (*panic_handler)(const char*) = nullptr;
std::uint64_t (*interrupted_pc_of_board)() = nullptr;
void (*while_waiting_of_board)() = nullptr;

}  // namespace

void set_joined(unsigned core) { __atomic_fetch_or(&joined_cores, 1u << core, __ATOMIC_RELAXED); }

void while_waiting() {
    if (while_waiting_of_board != nullptr) while_waiting_of_board();
    arch::relax();
}

void open_cores(const Config& config) {
    panic_handler = config.panic;
    interrupted_pc_of_board = config.input.interrupted_pc;
    while_waiting_of_board = config.while_waiting;
}
void set_interrupt_depth(Core& core, const volatile std::uint32_t* depth) {
    core.depth = reinterpret_cast<std::uintptr_t>(depth != nullptr ? depth : &thread_context);
}
unsigned interrupt_depth_of(const Core& core) {
    const auto* const count = reinterpret_cast<const volatile std::uint32_t*>(core.depth);
    return count == &thread_context ? unknown_depth : *count;
}
std::uint64_t interrupted_pc() {
    return interrupted_pc_of_board != nullptr ? interrupted_pc_of_board() : 0;
}

[[noreturn]] void panic(const char* message) {
    if (panic_handler != nullptr) panic_handler(message);
    arch::breakpoint();
}

}  // namespace nopscope
