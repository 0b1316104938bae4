// SPDX-License-Identifier: Apache-2.0
#include "firmware/bench/dynamic.hpp"

#include "firmware/bench/measure.hpp"
#include "tracer/arch/machine.hpp"

// code.arm64.S
extern "C" const char bench_dynamic_template[], bench_dynamic_literals[],
    bench_dynamic_template_end[], bench_dynamic_area[], bench_dynamic_area_end[];

namespace bench {

namespace {

std::uint64_t address_of(const char* label) { return reinterpret_cast<std::uintptr_t>(label); }

std::uint64_t guards[dynamic_stubs];

template <typename Visit>
void for_each_line(std::uint64_t line_bytes, std::uint64_t begin, std::uint64_t end, Visit visit) {
    if (line_bytes == 0) return;
    for (std::uint64_t line = begin & ~(line_bytes - 1); line < end; line += line_bytes)
        visit(line);
}

}  // namespace

std::uint64_t make_dynamic(unsigned number, std::uint64_t ops, std::uint64_t func) {
    nopscope::Machine machine;
    const std::uint64_t bytes =
        address_of(bench_dynamic_template_end) - address_of(bench_dynamic_template);
    const std::uint64_t stride = (bytes + 63) & ~std::uint64_t{63};
    const std::uint64_t stub = address_of(bench_dynamic_area) + number * stride;
    need(stub + bytes <= address_of(bench_dynamic_area_end), "bench: no room for a trampoline");

    guards[number] = reinterpret_cast<std::uintptr_t>(&guards[number]);
    for (std::uint64_t at = 0; at < bytes; at += 8) {
        machine.write_slot(stub + at, machine.read_slot(address_of(bench_dynamic_template) + at));
    }
    const std::uint64_t literals =
        stub + (address_of(bench_dynamic_literals) - address_of(bench_dynamic_template));
    machine.write_slot(literals, ops);
    machine.write_slot(literals + 8, func);
    machine.write_slot(literals + 16, guards[number]);

    for_each_line(machine.dcache_line_bytes(), stub, stub + bytes,
                  [&](std::uint64_t line) { machine.clean_dcache_line(line); });
    machine.data_barrier();
    for_each_line(machine.icache_line_bytes(), stub, stub + bytes,
                  [&](std::uint64_t line) { machine.invalidate_icache_line(line); });
    machine.data_barrier();
    machine.instruction_barrier();
    (void)machine.synchronize_other_cores();
    return stub;
}

}  // namespace bench
