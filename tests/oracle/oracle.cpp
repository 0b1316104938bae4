// SPDX-License-Identifier: Apache-2.0
// The independent count: a QEMU plugin that counts how often each patch site's word is executed
// while it is a BL. It shares nothing with the tracer and the firmware does not know of it; on a
// deterministic run (-icount shift=0) its numbers must equal nopscope's, function by function.
//
//     qemu-system-aarch64 ... -plugin liboracle.so,sites=SITES,out=OUT
//
// SITES: a line "WORD FUNCTION" for each site, hex: the address of the word that toggles and of the
// function's first instruction, as tests/oracle/sites.py writes them. OUT, written when QEMU exits:
//
//     {"instructions": N, "sites": [{"address": "0x..", "bl": N, "other": N}, ...]}
//
// `address` is the function's; `other` counts executions of the word while it was not a BL.
//
// Why the bytes seen at translation are the bytes executed: QEMU keys a translated block by the
// physical page it was read from and write-protects that page in every softmmu TLB entry that
// refers to it, whatever its virtual address. So a store through the tracer's writable alias (VA +
// 0x40_0000_0000) takes the same slow path as one to the text's own address, and throws the page's
// overlapping blocks away before the next instruction; the next execution translates anew, and this
// plugin looks at the new word. (That is also why QEMU cannot prove cache maintenance.)
// tests/oracle/known_counts.py holds us to it, with stores through an alias.
//
// Counters are per vCPU and added to by inline code, so several cores lose nothing.

#include "tests/oracle/qemu_plugin.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

extern "C" {
__attribute__((visibility("default"))) int qemu_plugin_version = 4;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t,
                                                               const qemu_info_t*, int argc,
                                                               char** argv);
}

namespace {

struct Site {
    std::uint64_t word = 0;
    std::uint64_t function = 0;
};

// The counters of one vCPU: instructions, then for each site {bl, other}.
struct Oracle {
    std::vector<Site> sites;
    std::unordered_map<std::uint64_t, std::size_t> site_at;  // by address of the word
    std::string out;
    qemu_plugin_scoreboard* score = nullptr;

    qemu_plugin_u64 counter(std::size_t index) const {
        return {score, index * sizeof(std::uint64_t)};
    }
    qemu_plugin_u64 instructions() const { return counter(0); }
    qemu_plugin_u64 executions(std::size_t site, bool bl) const {
        return counter(1 + 2 * site + (bl ? 0 : 1));
    }
};

// Never destroyed: QEMU calls on_exit after this library's static destructors.
Oracle& oracle = *new Oracle;

// DDI 0487, C6.2.34: BL is 100101 imm26.
bool is_bl(std::uint32_t word) { return (word >> 26) == 0x25; }

bool read_sites(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream fields(line);
        Site site;
        if (!(fields >> std::hex >> site.word >> site.function)) return false;
        if (!oracle.site_at.emplace(site.word, oracle.sites.size()).second) return false;
        oracle.sites.push_back(site);
    }
    return !oracle.sites.empty();
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* block) {
    const std::size_t count = qemu_plugin_tb_n_insns(block);
    for (std::size_t i = 0; i < count; ++i) {
        qemu_plugin_insn* instruction = qemu_plugin_tb_get_insn(block, i);
        qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(instruction, QEMU_PLUGIN_INLINE_ADD_U64,
                                                            oracle.instructions(), 1);
        const auto site = oracle.site_at.find(qemu_plugin_insn_vaddr(instruction));
        if (site == oracle.site_at.end()) continue;
        std::uint32_t word = 0;
        qemu_plugin_insn_data(instruction, &word, sizeof word);
        qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
            instruction, QEMU_PLUGIN_INLINE_ADD_U64, oracle.executions(site->second, is_bl(word)),
            1);
    }
}

void on_exit(qemu_plugin_id_t, void*) {
    std::FILE* file = std::fopen(oracle.out.c_str(), "w");
    if (file == nullptr) {
        qemu_plugin_outs("oracle: cannot write the file named by out=\n");
        return;
    }
    std::fprintf(file, "{\"instructions\": %" PRIu64 ", \"sites\": [",
                 qemu_plugin_u64_sum(oracle.instructions()));
    for (std::size_t i = 0; i < oracle.sites.size(); ++i) {
        std::fprintf(file,
                     "%s\n{\"address\": \"0x%" PRIx64 "\", \"bl\": %" PRIu64 ", \"other\": %" PRIu64
                     "}",
                     i == 0 ? "" : ",", oracle.sites[i].function,
                     qemu_plugin_u64_sum(oracle.executions(i, true)),
                     qemu_plugin_u64_sum(oracle.executions(i, false)));
    }
    std::fputs("\n]}\n", file);
    std::fclose(file);
}

}  // namespace

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*, int argc, char** argv) {
    std::string sites;
    for (int i = 0; i < argc; ++i) {
        if (std::strncmp(argv[i], "sites=", 6) == 0) sites = argv[i] + 6;
        if (std::strncmp(argv[i], "out=", 4) == 0) oracle.out = argv[i] + 4;
    }
    if (oracle.out.empty() || !read_sites(sites)) {
        std::fputs("oracle: needs out=FILE and sites=FILE (lines \"WORD FUNCTION\", hex, each word "
                   "once)\n",
                   stderr);
        return -1;
    }
    oracle.score =
        qemu_plugin_scoreboard_new((1 + 2 * oracle.sites.size()) * sizeof(std::uint64_t));
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_exit, nullptr);
    return 0;
}
