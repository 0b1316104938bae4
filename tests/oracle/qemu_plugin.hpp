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

struct qemu_info_t;            // not read
struct qemu_plugin_tb;         // a translation block, valid during its translation callback
struct qemu_plugin_insn;       // one of its instructions, likewise
struct qemu_plugin_scoreboard; // one element for each vCPU, grown by QEMU when a vCPU appears

// A 64-bit counter at `offset` in each vCPU's element.
struct qemu_plugin_u64 {
    qemu_plugin_scoreboard* score;
    std::size_t offset;
};

enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 = 0 };

using qemu_plugin_vcpu_tb_trans_cb_t = void (*)(qemu_plugin_id_t, qemu_plugin_tb*);
using qemu_plugin_udata_cb_t = void (*)(qemu_plugin_id_t, void*);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, qemu_plugin_vcpu_tb_trans_cb_t);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, qemu_plugin_udata_cb_t, void*);

std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb*);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb*, std::size_t);

// The bytes that are being translated, not a later reading of memory.
std::size_t qemu_plugin_insn_data(const qemu_plugin_insn*, void* to, std::size_t count);
std::uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn*);

// Adds `value` to the executing vCPU's counter just before each execution of the instruction.
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(qemu_plugin_insn*, qemu_plugin_op,
                                                         qemu_plugin_u64, std::uint64_t value);

qemu_plugin_scoreboard* qemu_plugin_scoreboard_new(std::size_t element_bytes);
std::uint64_t qemu_plugin_u64_sum(qemu_plugin_u64);  // over all vCPUs

void qemu_plugin_outs(const char*);

}  // extern "C"
