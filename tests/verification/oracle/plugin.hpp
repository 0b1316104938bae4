// SPDX-License-Identifier: Apache-2.0
// What the oracles' plugins share: their arguments, the instructions that QEMU translates, and the
// registers and memory of the core that a callback runs for.
#pragma once

#include "tests/verification/oracle/qemu_plugin.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace plugin {

// Returns the VALUE of the plugin's argument NAME=VALUE; empty: there is none.
inline std::string argument(int argc, char** argv, std::string_view name) {
    for (int i = 0; i < argc; ++i) {
        const std::string_view given = argv[i];
        const std::size_t at = given.find('=');
        if (at == name.size() && given.starts_with(name)) return std::string(given.substr(at + 1));
    }
    return {};
}

// Calls visit(instruction, address, word) for each instruction of a block, in order.
template <typename Visit>
void for_each_instruction(const qemu_plugin_tb* block, Visit visit) {
    const std::size_t instructions = qemu_plugin_tb_n_insns(block);
    for (std::size_t i = 0; i < instructions; ++i) {
        qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(block, i);
        std::uint32_t word = 0;
        qemu_plugin_insn_data(instruction, &word, sizeof word);
        visit(instruction, qemu_plugin_insn_vaddr(instruction), word);
    }
}

// QEMU calls callbacks in the order in which they were registered.
inline void call_before(qemu_plugin_insn* instruction, qemu_plugin_vcpu_udata_cb_t callback,
                        void* data = nullptr, qemu_plugin_cb_flags flags = QEMU_PLUGIN_CB_NO_REGS) {
    qemu_plugin_register_vcpu_insn_exec_cb(instruction, callback, flags, data);
}

class Registers {
public:
    // Only for the callback that reports a new core.
    static Registers of_this_core() {
        Registers found;
        const GArray* const all = qemu_plugin_get_registers();
        const auto* const registers = reinterpret_cast<qemu_plugin_reg_descriptor*>(all->data);
        for (unsigned i = 0; i < all->len; ++i) {
            const auto& [handle, name, feature] = registers[i];
            unsigned number = 0;
            if (std::sscanf(name, "x%u", &number) == 1 && number < 31) found.x_[number] = handle;
            if (std::strcmp(name, "sp") == 0) found.sp_ = handle;
            if (std::strcmp(name, "CTR_EL0") == 0) found.cache_type_ = handle;
        }
        return found;
    }
    bool known() const { return sp_ != nullptr && x_[0] != nullptr && x_[30] != nullptr; }
    std::uint64_t x(unsigned number) const { return number == 31 ? 0 : value(x_[number]); }
    std::uint64_t lr() const { return x(30); }
    std::uint64_t sp() const { return value(sp_); }
    std::uint64_t cache_type() const { return value(cache_type_); }

private:
    static std::uint64_t value(qemu_plugin_register* handle) {
        thread_local GByteArray* const bytes = g_byte_array_new();
        g_byte_array_set_size(bytes, 0);
        std::uint64_t value = 0;
        if (handle != nullptr && qemu_plugin_read_register(handle, bytes) > 0) {
            std::memcpy(&value, bytes->data, std::min<std::size_t>(bytes->len, sizeof value));
        }
        return value;
    }

    qemu_plugin_register* x_[31] = {};
    qemu_plugin_register* sp_ = nullptr;
    qemu_plugin_register* cache_type_ = nullptr;
};

// Reads memory as the core that runs the callback sees it. Returns false if nothing is mapped.
inline bool read_memory(std::uint64_t address, void* to, std::size_t bytes) {
    thread_local GByteArray* const buffer = g_byte_array_new();
    if (!qemu_plugin_read_memory_vaddr(address, buffer, bytes)) return false;
    std::memcpy(to, buffer->data, bytes);
    return true;
}

}  // namespace plugin
