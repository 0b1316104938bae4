// SPDX-License-Identifier: Apache-2.0
#include "host-tools/image/conventions.hpp"

#include "host-tools/image/arch/arch.hpp"

namespace nopscope::host {

std::string broken_by_tracing(const ElfFile& elf, const SourceLines& lines, std::uint64_t site) {
    constexpr char attribute[] =
        "give it NOPSCOPE_NOTRACE, which is __attribute__((patchable_function_entry(0)))";
    const auto sentence = [](const char* why, const char* remedy) {
        return std::string(why) + ", so a traced call breaks the program: " + remedy;
    };
    const Arch& arch = elf.arch();
    const unsigned convention = lines.convention(site);
    if (const char* const why = arch.broken_convention(convention)) return sentence(why, attribute);
    if (const auto words = arch.site_words(elf, site);
        words && arch.takes_register_of_caller(elf, words->word_address + 4))
        return sentence(arch.broken_by_its_code, attribute);
    if (convention == SourceLines::convention_by_callers)
        return sentence(arch.broken_by_its_callers, "compile its file with -fno-ipa-ra");
    return {};
}

}  // namespace nopscope::host
