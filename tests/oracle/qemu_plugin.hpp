// SPDX-License-Identifier: Apache-2.0
// The few functions of QEMU's TCG plugin interface that the oracle uses, declared from the
// interface's public documentation (QEMU manual, "QEMU TCG Plugins"): Debian's QEMU loads plugins
// but its package ships no header. They are resolved when QEMU opens the library.
//
// Interface version 4, which QEMU 9.2 and 10.0 speak. QEMU refuses the library, with a sentence,
// when it no longer speaks that version, so a changed signature is never called.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

using qemu_plugin_id_t = std::uint64_t;

struct qemu_info_t;       // not read
struct qemu_plugin_tb;    // a translation block, valid during its translation callback
struct qemu_plugin_insn;  // one of its instructions, likewise

// Whether a callback reads registers.
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS = 0, QEMU_PLUGIN_CB_R_REGS = 1 };

// GLib's, which QEMU has loaded.
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

struct qemu_plugin_register;
struct qemu_plugin_reg_descriptor {
    qemu_plugin_register* handle;
    const char* name;  // as GDB names it
    const char* feature;
};
// To be called when a vCPU is initialised; the array is the caller's.
GArray* qemu_plugin_get_registers();
// Appends the register's bytes, little-endian. Only in a callback with QEMU_PLUGIN_CB_R_REGS.
int qemu_plugin_read_register(qemu_plugin_register*, GByteArray*);

using qemu_plugin_vcpu_tb_trans_cb_t = void (*)(qemu_plugin_id_t, qemu_plugin_tb*);
using qemu_plugin_vcpu_simple_cb_t = void (*)(qemu_plugin_id_t, unsigned vcpu);
using qemu_plugin_udata_cb_t = void (*)(qemu_plugin_id_t, void*);
using qemu_plugin_vcpu_udata_cb_t = void (*)(unsigned vcpu, void*);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t, qemu_plugin_vcpu_simple_cb_t);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, qemu_plugin_vcpu_tb_trans_cb_t);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, qemu_plugin_udata_cb_t, void*);

std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb*);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb*, std::size_t);

// The bytes that are being translated, not a later reading of memory.
std::size_t qemu_plugin_insn_data(const qemu_plugin_insn*, void* to, std::size_t count);
std::uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn*);

// Just before each execution of the instruction.
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn*, qemu_plugin_vcpu_udata_cb_t,
                                            qemu_plugin_cb_flags, void*);

void qemu_plugin_outs(const char*);

}  // extern "C"
