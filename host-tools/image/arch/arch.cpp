// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/arch/arch.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace nopscope::host {

namespace arm64 {
extern const Arch arch;
}
namespace riscv64 {
extern const Arch arch;
}

std::span<const Arch* const> all_archs() {
    static constexpr std::array all{&arm64::arch, &riscv64::arch};
    return all;
}

std::string arch_names(const char* separator) {
    std::string names;
    for (const Arch* const arch : all_archs())
        names += (names.empty() ? "" : separator) + std::string(arch->name);
    return names;
}

const Arch* arch_of_machine(std::uint16_t machine) {
    const auto all = all_archs();
    const auto found = std::ranges::find(all, machine, &Arch::machine);
    return found == all.end() ? nullptr : *found;
}

const Arch* find_arch(protocol::Architecture architecture) {
    const auto number = static_cast<std::size_t>(architecture);
    return number < all_archs().size() ? all_archs()[number] : nullptr;
}

const Arch& arch_of(protocol::Architecture architecture) {
    return *all_archs()[static_cast<std::size_t>(architecture)];
}

const char* Arch::clock_name(protocol::Clock clock) const {
    switch (clock) {
    case protocol::Clock::timer: return timer_name;
    case protocol::Clock::cycles: return cycles_name;
    }
    return "unknown";
}

}  // namespace nopscope::host
