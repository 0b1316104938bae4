// SPDX-License-Identifier: Apache-2.0
// What the oracles' plugins share: their arguments, maps and results, the instructions that QEMU
// translates, and the registers and memory of the core that a callback runs for.
#pragma once

#include "tests/verification/oracle/addresses.hpp"
#include "tests/verification/oracle/qemu_plugin.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Which core runs.
//
// QEMU tells each callback the core. But if one thread runs several cores in turn (-icount), QEMU
// names the core that the code was translated for. This is wrong as soon as cores share code (seen
// with QEMU 10.0.2). Then this reads QEMU's own variable, if the program exports it. It is
// no part of the plugin interface. Without it, runs of several cores need a thread for each core.
namespace this_core {

inline constexpr unsigned most = 8;
inline void* cpus[most];  // by core

// The calling thread's value; null: not exported.
inline void* running() {
    thread_local auto* const variable = static_cast<void**>(dlsym(RTLD_DEFAULT, "current_cpu"));
    return variable == nullptr ? nullptr : *variable;
}

// Called from the callback that reports a new core, for which QEMU names the right core.
inline void is_there(unsigned core) {
    if (core < most) cpus[core] = running();
}
// `told`: the core that QEMU names.
inline unsigned number(unsigned told) {
    void* const cpu = running();
    if (cpu == nullptr || cpus[told] == cpu) return told;
    for (unsigned core = 0; core < most; ++core) {
        if (cpus[core] == cpu) return core;
    }
    return told;
}

}  // namespace this_core

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

using Numbers = std::vector<std::uint64_t>;

// A kind of line in a map: its word, how many hexadecimal numbers follow, and what takes them.
struct MapLine {
    MapLine(std::string_view of, std::size_t count, std::function<void(const Numbers&)> reader)
        : word(of), numbers(count), read(std::move(reader)) {}
    MapLine(std::string_view of, std::uint64_t& to)
        : MapLine(of, 1, [&to](const Numbers& is) { to = is[0]; }) {}
    MapLine(std::string_view of, Range& to)
        : MapLine(of, 2, [&to](const Numbers& is) {
              to = Range{is[0], is[1]};
          }) {}
    MapLine(std::string_view of, std::vector<Range>& to)
        : MapLine(of, 2, [&to](const Numbers& is) {
              to.push_back(Range{is[0], is[1]});
          }) {}

    std::string_view word;
    std::size_t numbers;
    std::function<void(const Numbers&)> read;
};

// Returns false if a line of the file is of none of these kinds.
inline bool read_map(const std::string& path, const std::vector<MapLine>& kinds) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields(line);
        std::string word;
        fields >> word >> std::hex;
        Numbers numbers;
        for (std::uint64_t number = 0; fields >> number;) numbers.push_back(number);
        const auto kind = std::ranges::find(kinds, word, &MapLine::word);
        if (kind == kinds.end() || kind->numbers != numbers.size() || !fields.eof()) return false;
        kind->read(numbers);
    }
    return true;
}

// A value of JSON, as its text.
struct Json {
    using Members = std::vector<std::pair<std::string, Json>>;
    template <std::integral Number>
    Json(Number value) : text(std::to_string(value)) {}
    Json(bool value) : text(value ? "true" : "false") {}
    Json(const char* value) : text('"' + std::string(value) + '"') {}
    Json(const std::string& value) : Json(value.c_str()) {}
    Json(const std::vector<Json>& values) : text("[") {
        for (const Json& value : values) add(value.text);
        text += ']';
    }
    Json(const Members& members) : text("{") {
        for (const auto& [name, value] : members) add(Json(name).text + ": " + value.text);
        text += '}';
    }
    void write(const std::string& path) const {
        std::ofstream out(path);
        if (!(out << text << '\n').flush()) std::perror(path.c_str());
    }

    std::string text;

private:
    void add(const std::string& more) { text += (text.size() == 1 ? "" : ",\n") + more; }
};

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
            if (std::strcmp(name, "ra") == 0) found.link_ = handle;
            if (std::strcmp(name, "sp") == 0) found.sp_ = handle;
            if (std::strcmp(name, "CTR_EL0") == 0) found.cache_type_ = handle;
        }
        return found;
    }
    bool known() const { return sp_ != nullptr && (link_ != nullptr || x_[30] != nullptr); }
    std::uint64_t x(unsigned number) const { return number == 31 ? 0 : value(x_[number]); }
    std::uint64_t lr() const { return value(link_ != nullptr ? link_ : x_[30]); }
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
    qemu_plugin_register* link_ = nullptr;  // RISC-V's ra
    qemu_plugin_register* sp_ = nullptr;
    qemu_plugin_register* cache_type_ = nullptr;
};

// What a plugin keeps for each core.
template <typename Core>
class Cores {
public:
    // Only for the callback that reports a new core.
    template <typename... Of>
    Core& add(unsigned core, Of&&... of) {
        this_core::is_there(core);
        return *(cores_.at(core) = std::make_unique<Core>(std::forward<Of>(of)...));
    }
    // `told`: the core that QEMU names.
    Core& operator[](unsigned told) { return *cores_[this_core::number(told)]; }

private:
    std::array<std::unique_ptr<Core>, this_core::most> cores_;
};

// The end of qemu_plugin_install(). Has QEMU call these: for a new core, for code that it
// translates, and at its end. `needs`: what the plugin says if its arguments are wrong.
inline int start(qemu_plugin_id_t id, bool is_ready, const char* needs,
                 qemu_plugin_vcpu_simple_cb_t on_core,
                 qemu_plugin_vcpu_tb_trans_cb_t on_translation, qemu_plugin_udata_cb_t on_exit) {
    if (!is_ready) {
        std::fputs(needs, stderr);
        return -1;
    }
    qemu_plugin_register_vcpu_init_cb(id, on_core);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit, nullptr);
    return 0;
}

// Reads memory as the core that runs the callback sees it. Returns false if nothing is mapped.
inline bool read_memory(std::uint64_t address, void* to, std::size_t bytes) {
    thread_local GByteArray* const buffer = g_byte_array_new();
    if (!qemu_plugin_read_memory_vaddr(address, buffer, bytes)) return false;
    std::memcpy(to, buffer->data, bytes);
    return true;
}

}  // namespace plugin
