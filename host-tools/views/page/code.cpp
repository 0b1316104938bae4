// SPDX-License-Identifier: Apache-2.0
#include "host-tools/views/page/code.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "host-tools/base/text.hpp"
#include "host-tools/image/read_symbols.hpp"
#include "host-tools/image/source_text.hpp"

namespace nopscope::host {
namespace {

std::string cut(std::string text, std::size_t most) {
    if (text.size() <= most) return text;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;  // UTF-8
    return text.substr(0, most) + "…";
}

}  // namespace

CodeView::CodeView(const std::string& image, std::vector<std::string> source_roots)
    : elf_(ElfFile::open(image)),
      symbols_(read_symbols(elf_, DebugFile::gives_names)),
      disassembler_(elf_.arch()),
      lines_(elf_),
      source_roots_(std::move(source_roots)) {
    for (const ElfSymbol& symbol : elf_.symbols()) {
        if (symbol.is_mapping()) data_.emplace_back(symbol.address, symbol.name[1] == 'd');
    }
    std::sort(data_.begin(), data_.end());
    struct stat about {};
    if (stat(image.c_str(), &about) == 0) modified_ = about.st_mtime;
}

// Orders the functions by the sum of their shares of self time and of samples.
std::vector<std::uint64_t> CodeView::hottest(const Report& report) const {
    std::unordered_map<std::uint64_t, double> shares;
    for (const FunctionRow& row : report.functions) shares[row.address] += row.share;
    if (!report.has_calls()) {
        for (const ProfileRow& row : report.profile) shares[row.address] += row.share;
    }
    for (const SampleRow& row : report.samples.functions) shares[row.address] += row.share;
    std::vector<std::pair<double, std::uint64_t>> order;
    for (const auto& [address, share] : shares) {
        if (address != 0 && share > 0) order.emplace_back(-share, address);
    }
    std::sort(order.begin(), order.end());
    std::vector<std::uint64_t> addresses;
    addresses.reserve(order.size());
    for (const auto& [share, address] : order) addresses.push_back(address);
    return addresses;
}

// The mapping symbols ($x, $d) decide; code precedes the first one.
bool CodeView::is_data(std::uint64_t address) const {
    const auto after = std::upper_bound(data_.begin(), data_.end(), std::pair(address, true));
    return after != data_.begin() && after[-1].second;
}

Json CodeView::function(const Function& of, std::int64_t& room, const PositionOf& position,
                        std::vector<LinePlace>& places) const {
    Json json{{"function", position(of.address)},
              {"address", hex_address(of.address)},
              {"instructions", 0}};
    Json lines = json_columns({"at", "file", "line"});
    Json targets = json_columns({"at", "function", "offset", "name", "call"});
    Json shorts = Json::array();
    Json notes = Json::array();
    std::string text;
    const Arch& arch = elf_.arch();
    const auto site = arch.site_words(elf_, of.address);
    const auto scan = arch.scan(elf_);
    json["slot"] = site.has_value();
    LinePlace last;
    std::uint64_t n = 0, bytes = 0;  // of the instructions shown
    for (unsigned length = 0; n < max_instructions && room > 0; ++n, bytes += length) {
        const std::uint64_t address = of.address + bytes;
        const auto word = elf_.code_at(address);
        if (!word) break;
        const bool in_data = is_data(address);
        const Instruction one = in_data ? Instruction{} : scan->step(address, *word);
        length = one.bytes;
        if (of.size - bytes < length) break;
        const std::string said = in_data ? fmt::format(".word\t{:#010x}", *word)
                                         : disassembler_.text(address, *word, length);
        room -= static_cast<std::int64_t>(said.size() + 1);
        text += (n == 0 ? "" : "\n") + said;
        if (const auto place = lines_.at(address); place && *place != last) {
            last = *place;
            room -= 16;
            places.push_back(last);
            add_row(lines, {n, last.file, last.line});
        }
        if (site && address == site->setup_address) {
            notes.push_back(
                {n, fmt::format("nopscope's: {} once the target has booted", arch.setup_text)});
        } else if (site && address == site->word_address) {
            notes.push_back({n, fmt::format("nopscope's: {} to a recorder while it is traced",
                                            arch.call_text)});
        }
        if (length == 2) shorts.push_back(n);
        const Flow& flow = one.flow;
        if (!flow.has_target()) continue;
        const Function* const to = symbols_.around(flow.target);
        const std::int64_t number = to != nullptr ? position(to->address) : -1;
        const std::string name = number >= 0     ? ""
                                 : to != nullptr ? cut(for_cell(to->name), max_line_bytes)
                                                 : hex_address(flow.target);
        room -= static_cast<std::int64_t>(16 + name.size());
        add_row(targets, {n, number, to != nullptr ? flow.target - to->address : 0, name,
                          flow.kind == Flow::Kind::call});
    }
    json["instructions"] = n + (of.size - bytes) / 4;
    json["shown"] = n;
    json["text"] = std::move(text);
    json["lines"] = std::move(lines);
    json["targets"] = std::move(targets);
    json["notes"] = std::move(notes);
    if (!shorts.empty()) json["short"] = std::move(shorts);
    return json;
}

// The source lines of the instructions, file by file, up to the page's limit.
Json CodeView::source(std::vector<LinePlace> places,
                      const std::vector<std::uint32_t>& files) const {
    Json json = json_columns({"file", "line", "text"});
    Json refused = json_columns({"file", "why"});
    Json newer = Json::array();
    std::size_t room = max_source_bytes;
    std::size_t cut_lines = 0;
    std::map<std::uint32_t, SourceText> texts;
    for (const LinePlace& place : places) {
        if (place.file >= max_files) continue;
        const auto [at, is_new] = texts.try_emplace(place.file);
        SourceText& source = at->second;
        if (is_new) {
            source = read_source_text(lines_.files()[files[place.file]], source_roots_);
            if (!source.refusal.empty()) {
                add_row(refused, {place.file, source.refusal});
            } else if (source.modified > modified_) {
                newer.push_back(place.file);
            }
        }
        if (place.line > source.lines.size()) continue;
        const std::string line = cut(for_terminal(source.lines[place.line - 1]), max_line_bytes);
        if (line.size() > room) {
            ++cut_lines;
            continue;
        }
        room -= line.size();
        add_row(json, {place.file, place.line, line});
    }
    return {{"lines", std::move(json)},
            {"refused", std::move(refused)},
            {"newer", std::move(newer)},
            {"cut", cut_lines}};
}

Json CodeView::json(const Report& report, const PositionOf& position) const {
    Json functions = Json::array();
    std::vector<LinePlace> places;  // those of the hottest functions first
    std::int64_t room = max_bytes;
    for (const std::uint64_t address : hottest(report)) {
        const Function* const of = symbols_.around(address);
        if (of == nullptr || of->address != address || position(address) < 0) continue;
        if (functions.size() == max_functions || room <= 0) break;
        functions.push_back(function(*of, room, position, places));
    }
    // Gives each file the page's own number, and takes each line once.
    std::vector<std::uint32_t> files;
    std::unordered_map<std::uint32_t, std::uint32_t> numbers;
    std::unordered_map<std::uint64_t, bool> known;
    std::vector<LinePlace> once;
    Json names = Json::array();
    for (LinePlace place : places) {
        const auto [at, is_new] =
            numbers.try_emplace(place.file, static_cast<std::uint32_t>(files.size()));
        if (is_new) {
            files.push_back(place.file);
            names.push_back(names.size() < max_files
                                ? cut(for_cell(lines_.files()[place.file]), max_line_bytes)
                                : "…");
        }
        place.file = at->second;
        if (known.try_emplace(std::uint64_t{place.file} << 32 | place.line).second)
            once.push_back(place);
    }
    for (Json& function : functions) {
        for (Json& file : function["lines"]["file"]) file = numbers.at(file.get<std::uint32_t>());
    }
    return {{"functions", std::move(functions)},
            {"files", std::move(names)},
            {"source", !source_roots_.empty() ? source(std::move(once), files) : Json()}};
}

}  // namespace nopscope::host
