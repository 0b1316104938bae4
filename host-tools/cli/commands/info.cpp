// SPDX-License-Identifier: Apache-2.0
// `info` describes a recording or an image, without its profile.
#include <fmt/chrono.h>

#include <algorithm>

#include "host-tools/base/file.hpp"
#include "host-tools/base/or_throw.hpp"
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/commands/load.hpp"
#include "host-tools/figures/report/make_report.hpp"
#include "host-tools/image/read_symbols.hpp"
#include "host-tools/views/json/json.hpp"
#include "host-tools/views/json/report.hpp"
#include "host-tools/views/text/head.hpp"

namespace nopscope::host {
namespace {

struct InfoOptions {
    std::string file;
    Format format = Format::text;
    bool sites = false;
};

std::string shown_build_id(const std::string& id) {
    return id.empty() ? fmt::format("(none: {})", without_build_id) : id;
}

Json site_json(const ElfFile& elf, const Symbols& symbols) {
    return json_list(symbols.sites, [&, index = 0](const Function& site) mutable {
        const auto words = elf.arch().site_words(elf, site.address);
        return Json{{"index", index++},
                    {"address", hex_address(site.address)},
                    {"name", to_utf8(site.name)},
                    {"aliases", json_list(site.aliases, to_utf8)},
                    {"file", to_utf8(site.file)},
                    {"line", site.line},
                    {"word", words ? Json(hex_address(words->word_address)) : Json(nullptr)}};
    });
}

// Of the running program.
std::vector<ElfSection> sections_of(const ElfFile& elf) {
    std::vector<ElfSection> sections = elf.sections();
    std::erase_if(sections, [](const ElfSection& section) {
        return !section.is_allocated() || section.size == 0;
    });
    return sections;
}

Exit elf_info(const InfoOptions& options) {
    const ElfFile elf = ElfFile::open(options.file);
    const Symbols symbols = read_symbols(elf);
    const auto id = to_hex(elf.build_id());
    std::uint64_t text_bytes = 0;
    for (const ElfSection& section : elf.sections()) {
        if (section.is_code()) text_bytes += section.size;
    }
    const auto with_pad =
        std::count_if(symbols.sites.begin(), symbols.sites.end(), [&](const Function& site) {
            const auto words = elf.arch().site_words(elf, site.address);
            return words && words->has_landing_pad;
        });
    const auto misaligned =
        std::count_if(symbols.sites.begin(), symbols.sites.end(),
                      [](const Function& site) { return site.address % 8 != 0; });
    if (options.format == Format::json) {
        const auto section = [](const ElfSection& of) {
            return Json{{"name", to_utf8(of.name)},
                        {"address", hex_address(of.address)},
                        {"bytes", of.size},
                        {"writable", of.is_writable()},
                        {"executable", of.is_code()}};
        };
        Json json{{"build_id", id},
                  {"architecture", elf.arch().name},
                  {"entry", hex_address(elf.entry())},
                  {"text_bytes", text_bytes},
                  {"site_count", symbols.sites.size()},
                  {"sites_with_pad", with_pad},
                  {"misaligned_sites", misaligned},
                  {"site_table_crc", fmt::format("{:08x}", symbols.site_table_crc)},
                  {"sections", json_list(sections_of(elf), section)}};
        if (options.sites) json["sites"] = site_json(elf, symbols);
        print(json_text(json));
        return Exit::ok;
    }
    const char* const pad = elf.arch().landing_pad_text;
    const std::string pads = pad != nullptr ? fmt::format(" ({} with {})", with_pad, pad) : "";
    print(
        "image     {}\nmachine   {}\nbuild-id  {}\nentry     {}\ntext      {} bytes\n"
        "sites     {}{}, table CRC {:08x}\nsections\n",
        for_terminal(options.file), elf.arch().name, shown_build_id(id), hex_address(elf.entry()),
        text_bytes, symbols.sites.size(), pads, symbols.site_table_crc);
    for (const ElfSection& section : sections_of(elf)) {
        print("  {:<28} {:>#14x} {:>10} {}{}{}\n", for_cell(section.name), section.address,
              section.size, 'r', section.is_writable() ? 'w' : '-', section.is_code() ? 'x' : '-');
    }
    if (misaligned != 0) {
        print(
            "refused   {} of {} sites are not at 8 bytes, so the target refuses them: see SUBALIGN "
            "in docs/integration.md\n",
            misaligned, symbols.sites.size());
    }
    if (!options.sites) return Exit::ok;
    print("sites\n");
    for (std::size_t i = 0; i < symbols.sites.size(); ++i) {
        const Function& site = symbols.sites[i];
        std::string names = for_cell(site.name);
        for (const std::string& alias : site.aliases)
            if (demangled(alias) != site.name) names += " = " + for_cell(alias);
        print("  {:>6} {} {}\n", i, hex_address(site.address), names);
    }
    return Exit::ok;
}

const char* reason_text(nsc::EndReason reason) {
    static constexpr const char* texts[] = {
        "the line closed", "the target finished", "the recorder was interrupted",
        "the time asked for was over", "the recording goes on in the next file"};
    const auto number = static_cast<std::size_t>(reason);
    return number < std::size(texts) ? texts[number] : "for a reason unknown";
}

std::string time_text(std::uint64_t unix_ns) {
    const auto seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000u);
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(seconds));
}

void print_recording(const nsc::Reader& file, const Report& report) {
    if (const auto& about = file.about()) {
        print("source    {}\nstarted   {}, by {}\n", for_cell(about->source),
              time_text(about->started_unix_ns), for_cell(about->tool));
    }
    const auto& end = file.end();
    print("ended     {}\n", file.counters().file.is_raw ? "(a raw capture)"
                            : end                       ? reason_text(end->reason)
                                  : "without an end marker: the recorder was killed");
    if (end && end->exit_status >= 0) print("exit      {}\n", end->exit_status);
    print("image     {} on {}\nbuild-id  {}\nsymbols   {}\n", for_cell(report.image),
          for_cell(report.board), shown_build_id(to_hex(report.build_id)),
          file.symbols() ? fmt::format("{} sites, from {}", file.symbols()->sites.size(),
                                       for_cell(file.symbols()->origin))
                         : "(none)");
    print("target    {}, {} core(s), clock {} Hz, {}, {} sites, text at {}, line {} bytes/s\n",
          arch_of(report.architecture).name, report.cores, report.clock_hz, mode_text(report),
          report.site_count, hex_address(report.text_base), report.line_bytes_per_second);
    print("sessions  {}\nduration  {}, {} for the tracer\nline      {} bytes, trace format {}\n",
          report.sessions, human_ns(report.duration_ns), human_ns(report.tracer_ns),
          with_commas(file.counters().line.bytes), report.version);
    const auto frames = file.counters().stream.frames_by_stream;
    print("frames    {} hello, {} trace, {} console, {} stats, {} profile\n", frames[1], frames[2],
          frames[3], frames[4], frames[5]);
    print("{}\n", integrity_line(report.integrity));
}

// Makes JSON of each extension of hello, under its name in docs/trace-format.md. A value is a text,
// a number, or a group's numbers in that page's order; null: not known.
class HelloJson {
public:
    template <typename Member>
    void field(unsigned, const char* name, const Member& member) {
        if constexpr (requires { member.c_str(); }) {
            json[name] = to_utf8(member);
        } else {
            json[name] = protocol::as_varint(member);
        }
    }
    template <typename... Members>
    void group(unsigned, const char* name, bool known, const Members&... members) {
        Json& numbers = json[name] = nullptr;
        if (known)
            (protocol::numbers_of(members, [&](auto number) { numbers.push_back(number); }), ...);
    }
    Json json;
};

Json hello_json(const HelloInfo& hello) {
    HelloJson said;
    said.json["format"] = hello.version;
    protocol::extensions_of(hello, said);
    said.json["build_id"] = to_hex(hello.build_id);  // as text, not as raw bytes
    return said.json;
}

Json recording_json(const nsc::Reader& file, const Report& report) {
    const StreamCounters& stream = file.counters().stream;
    Json json;
    if (const auto& about = file.about()) {
        json["source"] = to_utf8(about->source);
        json["tool"] = to_utf8(about->tool);
        json["started_unix_ns"] = about->started_unix_ns;
    }
    json["raw_capture"] = file.counters().file.is_raw;
    json["ended"] = file.end() ? Json(reason_text(file.end()->reason)) : Json(nullptr);
    json["exit_status"] = file.end() ? Json(file.end()->exit_status) : Json(nullptr);
    json.update({{"image", json_image(report)},
                 {"architecture", arch_of(report.architecture).name},
                 {"has_symbols", file.symbols().has_value()},
                 {"clock_hz", report.clock_hz},
                 {"cores", report.cores},
                 {"lossless", report.lossless},
                 {"flight", report.flight},
                 {"text_base", hex_address(report.text_base)},
                 {"load_bias", hex_address(report.load_bias)},
                 {"site_count", report.site_count},
                 {"line_bytes_per_second", report.line_bytes_per_second},
                 {"hello", hello_json(report)},
                 {"sessions", report.sessions},
                 {"duration_ns", report.duration_ns},
                 {"tracer_ns", report.tracer_ns},
                 {"line_bytes", file.counters().line.bytes}});
    json["frames"] = {{"hello", stream.frames_by_stream[1]},
                      {"trace", stream.frames_by_stream[2]},
                      {"console", stream.frames_by_stream[3]},
                      {"stats", stream.frames_by_stream[4]},
                      {"profile", stream.frames_by_stream[5]}};
    json_target(json, report);
    json["integrity"] = json_integrity(report.integrity);
    return json;
}

Exit info(const InfoOptions& options) {
    if (begins_with(options.file, "\177ELF")) return elf_info(options);
    Profile profile;
    nsc::Reader file;
    read_with_progress(file, options.file, profile);
    const Report report = or_throw(make_report(profile, file.counters(), nullptr));
    if (options.format == Format::json) {
        print(json_text(recording_json(file, report)));
    } else {
        print_recording(file, report);
    }
    return Exit::ok;
}

}  // namespace

Action add_info(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<InfoOptions>();
    command = add_command(app, "info", "Say what a recording or an image is",
                          {"nopscope info run.nsc", "nopscope info firmware.elf --sites"});
    add_value(command, "file", options->file, kind::file, "A recording, a raw capture, or an ELF")
        ->required();
    add_choice(command, "--format", options->format, formats_without_csv, "Output");
    command->add_flag("--sites", options->sites, "Of an ELF: list its patch sites");
    return [options] { return info(*options); };
}

}  // namespace nopscope::host
