// SPDX-License-Identifier: Apache-2.0
// The functions of QEMU's TCG plugin interface that the oracles use. They are declared from the
// interface's public documentation (QEMU manual, "QEMU TCG Plugins"), because Debian's QEMU loads
// plugins but its package contains no header. QEMU resolves them when it opens the library.
//
// This is interface version 4, which QEMU 9.2 and 10.0 support. A QEMU without this version refuses
// the library with a sentence, so a function with a changed signature is never called.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

using qemu_plugin_id_t = std::uint64_t;

struct qemu_info_t {  // only this member is read
    const char* target_name;
};
struct qemu_plugin_tb;    // a translation block, valid during its translation callback
struct qemu_plugin_insn;  // one of its instructions, likewise

// The plugin defines these: the interface's version, and what QEMU calls when it loads the plugin.
extern __attribute__((visibility("default"))) int qemu_plugin_version;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t, const qemu_info_t*,
                                                               int argc, char** argv);

// The registers that the callback reads.
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS = 0, QEMU_PLUGIN_CB_R_REGS = 1 };

using qemu_plugin_vcpu_tb_trans_cb_t = void (*)(qemu_plugin_id_t, qemu_plugin_tb*);
using qemu_plugin_udata_cb_t = void (*)(qemu_plugin_id_t, void*);
using qemu_plugin_vcpu_udata_cb_t = void (*)(unsigned vcpu, void*);
using qemu_plugin_vcpu_simple_cb_t = void (*)(qemu_plugin_id_t, unsigned vcpu);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t, qemu_plugin_vcpu_simple_cb_t);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, qemu_plugin_vcpu_tb_trans_cb_t);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, qemu_plugin_udata_cb_t, void*);

std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb*);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb*, std::size_t);

// Copies the bytes that are being translated. It does not read memory again.
std::size_t qemu_plugin_insn_data(const qemu_plugin_insn*, void* to, std::size_t count);
std::size_t qemu_plugin_insn_size(const qemu_plugin_insn*);  // bytes
std::uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn*);

// Called just before each execution of the instruction.
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn*, qemu_plugin_vcpu_udata_cb_t,
                                            qemu_plugin_cb_flags, void*);

// Called just after each access to memory by an instruction. An instruction may make several.
enum qemu_plugin_mem_rw {
    QEMU_PLUGIN_MEM_R = 1,
    QEMU_PLUGIN_MEM_W = 2,
};
using qemu_plugin_meminfo_t = std::uint32_t;
using qemu_plugin_vcpu_mem_cb_t = void (*)(unsigned vcpu, qemu_plugin_meminfo_t,
                                           std::uint64_t address, void*);
void qemu_plugin_register_vcpu_mem_cb(qemu_plugin_insn*, qemu_plugin_vcpu_mem_cb_t,
                                      qemu_plugin_cb_flags, qemu_plugin_mem_rw, void*);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);  // log2 of bytes

// The value that was loaded or stored. `type`: log2 of bytes.
struct qemu_plugin_mem_value {
    unsigned type;
    union {
        std::uint8_t u8;
        std::uint16_t u16;
        std::uint32_t u32;
        std::uint64_t u64;
        struct {
            std::uint64_t low, high;
        } u128;
    } data;
};
qemu_plugin_mem_value qemu_plugin_mem_get_value(qemu_plugin_meminfo_t);

struct qemu_plugin_hwaddr;  // valid during the memory callback
qemu_plugin_hwaddr* qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t, std::uint64_t address);
bool qemu_plugin_hwaddr_is_io(const qemu_plugin_hwaddr*);
std::uint64_t qemu_plugin_hwaddr_phys_addr(const qemu_plugin_hwaddr*);

// The part of GLib's arrays that the interface returns. QEMU is linked with GLib.
struct GArray {
    char* data;
    unsigned len;
};
struct GByteArray {
    std::uint8_t* data;
    unsigned len;
};
GByteArray* g_byte_array_new();
GByteArray* g_byte_array_set_size(GByteArray*, unsigned);

// In a vCPU's callback: its registers. Appends a register's bytes to `to`; below 0: not read.
struct qemu_plugin_register;
struct qemu_plugin_reg_descriptor {
    qemu_plugin_register* handle;
    const char* name;
    const char* feature;
};
GArray* qemu_plugin_get_registers();  // of qemu_plugin_reg_descriptor
int qemu_plugin_read_register(qemu_plugin_register*, GByteArray* to);
bool qemu_plugin_read_memory_vaddr(std::uint64_t address, GByteArray* to, std::size_t bytes);

void qemu_plugin_outs(const char*);

}  // extern "C"
