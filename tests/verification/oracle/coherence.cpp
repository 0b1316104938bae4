// SPDX-License-Identifier: Apache-2.0
// The coherence oracle: a QEMU plugin that watches a real image change its own text. It reports
// what would go wrong on a CPU with caches. QEMU itself executes new text at once.
//
//     qemu-system-aarch64 ... -plugin libcoherence.so,image=IMAGE,out=OUT
//
// coherence_files.hpp describes IMAGE and OUT. This file selects what the oracle watches;
// coherence_model.hpp and coherence_rows.hpp say what it means. The oracle watches all stores, by
// physical address; instructions that order or maintain; entries of exception vectors (as VBAR_EL1
// was written); the first instruction of each request function, and those behind calls (requests
// return there); and words of text that are sites or were modified.
#include "tests/verification/oracle/coherence_events.hpp"

int qemu_plugin_version = 4;

namespace {

using namespace coherence;
using a64::Op;
using plugin::call_before;

bool is_vector(Address address) {
    for (const Address base : oracle.vectors) {
        if (address - base < 0x800 && address % 0x80 == 0) return true;
    }
    return false;
}
bool reads_slots(Address address) {
    for (const Range& reader : oracle.image.readers) {
        if (reader.has(address)) return true;
    }
    return false;
}

void watch_text(qemu_plugin_insn* instruction, Address address, std::uint32_t word) {
    Model& model = *oracle.model;
    if (model.holds(address - 4) && a64::branch_of(model.value(address - 4)) == a64::Branch::call) {
        call_before(instruction, on_return_address, reinterpret_cast<void*>(address),
                    QEMU_PLUGIN_CB_R_REGS);
    }
    if (oracle.image.requests.count(address) != 0) {
        call_before(instruction, on_request, nullptr, QEMU_PLUGIN_CB_R_REGS);
    }
    // With threads, the store that changed the word may not be reported yet.
    if (word != model.value(address)) model.watch(address);
    if (Word* const known = model.find(address)) call_before(instruction, on_word, known);
    if (address == oracle.image.made) call_before(instruction, on_callback_made);
    const Range& switching = oracle.image.switching;
    if (switching.begin != 0 && address == switching.begin)
        call_before(instruction, on_stack_left, nullptr, QEMU_PLUGIN_CB_R_REGS);
    if (switching.begin != 0 && address == switching.end - 4)
        call_before(instruction, on_stack_taken, nullptr, QEMU_PLUGIN_CB_R_REGS);
    const bool holds = oracle.image.holder.has(address);
    if (holds || reads_slots(address)) {
        qemu_plugin_register_vcpu_mem_cb(instruction, on_load, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_R, holds ? &oracle : nullptr);
    }
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* block) {
    const std::lock_guard lock(oracle.lock);
    plugin::for_each_instruction(
        block, [](qemu_plugin_insn* instruction, Address address, std::uint32_t word) {
            if (is_vector(address)) call_before(instruction, on_exception);
            if (oracle.model->holds(address)) watch_text(instruction, address, word);
            if (const Op op = a64::op_of(word); op != Op::other) {
                call_before(instruction, on_system, packed(op, word), QEMU_PLUGIN_CB_R_REGS);
            }
            qemu_plugin_register_vcpu_mem_cb(instruction, on_store, QEMU_PLUGIN_CB_NO_REGS,
                                             QEMU_PLUGIN_MEM_W, nullptr);
        });
}

void on_exit(qemu_plugin_id_t, void*) {
    std::string unknown;
    if (!oracle.knows_caches) unknown = "CTR_EL0 could not be read. ";
    if (!oracle.knows_core) unknown += "QEMU does not say which core runs: take --threads. ";
    if (!write_result(oracle.out, *oracle.model, unknown)) {
        std::fputs("coherence: cannot write the file named by out=\n", stderr);
    }
}

}  // namespace

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*, int argc, char** argv) {
    const std::string path = plugin::argument(argc, argv, "image");
    oracle.out = plugin::argument(argc, argv, "out");
    std::vector<std::uint8_t> text;
    if (oracle.out.empty() || !read_image(path, oracle.image) || !read_text(oracle.image, text)) {
        std::fputs("coherence: needs out=FILE and image=FILE, as coherence.py makes it\n", stderr);
        return -1;
    }
    oracle.model = std::make_unique<Model>(oracle.image.text.begin, std::move(text));
    for (const auto& [word, function] : oracle.image.sites) oracle.model->add_site(word, function);
    oracle.rows = std::make_unique<Rows>(*oracle.model, oracle.image.ops, plugin::read_memory);
    if (oracle.image.ops.none != 0) oracle.rows->watch();
    qemu_plugin_register_vcpu_init_cb(id, on_core);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit, nullptr);
    return 0;
}
