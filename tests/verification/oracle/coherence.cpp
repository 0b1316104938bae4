// SPDX-License-Identifier: Apache-2.0
// The coherence oracle: a QEMU plugin that watches a real image change its own text. It reports
// what would go wrong on a CPU with caches. QEMU itself executes new text at once.
//
//     qemu-system-aarch64 ... -plugin libcoherence.so,image=IMAGE,text=TEXT,out=OUT
//
// coherence_files.hpp describes IMAGE and OUT. TEXT has the bytes of the image's text. This file
// selects what the oracle watches; coherence_model.hpp and coherence_rows.hpp say what it means.
// The oracle watches all stores, by physical address; instructions that order or maintain; entries
// of exception vectors (as VBAR_EL1 was written); the first instruction of each request function,
// and those behind calls (requests return there); and words of text that are sites or were
// modified.
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
    if (switching.low != 0 && address == switching.low)
        call_before(instruction, on_stack_left, nullptr, QEMU_PLUGIN_CB_R_REGS);
    if (switching.low != 0 && address == switching.high - 4)
        call_before(instruction, on_stack_taken, nullptr, QEMU_PLUGIN_CB_R_REGS);
    const bool holds = oracle.image.holder.has(address);
    if (holds || any_has(oracle.image.readers, address)) {
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

using Numbers = std::vector<std::uint64_t>;
constexpr plugin::MapLine lines[] = {
    {"text", 2,
     [](const Numbers& is) {
         oracle.image.text = {is[0], is[1]};
     }},
    {"alias", 1, [](const Numbers& is) { oracle.image.alias = is[0]; }},
    {"site", 2, [](const Numbers& is) { oracle.image.sites.emplace_back(is[0], is[1]); }},
    {"request", 1, [](const Numbers& is) { oracle.image.requests.insert(is[0]); }},
    {"reader", 2,
     [](const Numbers& is) {
         oracle.image.readers.push_back({is[0], is[1]});
     }},
    {"holder", 3,
     [](const Numbers& is) {
         oracle.image.holder = {is[0], is[1]};
         oracle.image.made = is[2];
     }},
    {"switch", 2,
     [](const Numbers& is) {
         oracle.image.switching = {is[0], is[1]};
     }},
    {"lists", 2,
     [](const Numbers& is) {
         oracle.image.lists = {is[0], is[1]};
     }},
    {"ops", 6,
     [](const Numbers& is) { oracle.image.ops = {is[0], is[1], is[2], is[3], is[4], is[5]}; }},
};

// Returns the bytes of the text; empty: the files are not as they should be.
std::vector<std::uint8_t> read_image(const std::string& path, const std::string& text_path) {
    const Range& text = oracle.image.text;
    if (!plugin::read_map(path, lines) || text.low >= text.high || text.low % 8 != 0) return {};
    if (oracle.image.requests.empty()) return {};
    std::vector<std::uint8_t> bytes(text.high - text.low);
    std::ifstream file(text_path, std::ios::binary);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return file ? bytes : std::vector<std::uint8_t>();
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
    oracle.out = plugin::argument(argc, argv, "out");
    auto text =
        read_image(plugin::argument(argc, argv, "image"), plugin::argument(argc, argv, "text"));
    if (oracle.out.empty() || text.empty()) {
        std::fputs("coherence: needs out=FILE, and image= and text= as coherence.py makes them\n",
                   stderr);
        return -1;
    }
    oracle.model = std::make_unique<Model>(oracle.image.text.low, std::move(text));
    for (const auto& [word, function] : oracle.image.sites) oracle.model->add_site(word, function);
    oracle.rows = std::make_unique<Rows>(*oracle.model, oracle.image.ops, plugin::read_memory);
    if (oracle.image.ops.none != 0) oracle.rows->watch();
    plugin::watch(id, on_core, on_translation, on_exit);
    return 0;
}
