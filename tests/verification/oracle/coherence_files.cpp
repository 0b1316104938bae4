// SPDX-License-Identifier: Apache-2.0
#include "tests/verification/oracle/coherence_files.hpp"

#include <fstream>
#include <sstream>

namespace coherence {

bool read_image(const std::string& path, Image& image) {
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream fields(line);
        std::string what;
        Address first = 0, second = 0;
        fields >> what >> std::hex;
        if (what == "text") {
            fields >> image.text.begin >> image.text.end >> image.bytes;
        } else if (what == "alias") {
            fields >> image.alias;
        } else if (what == "ops") {
            OpsOf& ops = image.ops;
            fields >> ops.none >> ops.walk_list >> ops.guarded >> ops.callback >> ops.unguarded >>
                ops.far;
        } else if (what == "holder") {
            fields >> image.holder.begin >> image.holder.end >> image.made;
        } else if (what == "lists") {
            fields >> image.lists.begin >> image.lists.end;
        } else if (what == "switch") {
            fields >> image.switching.begin >> image.switching.end;
        } else if (what == "request") {
            fields >> first;
            image.requests.insert(first);
        } else if (what == "site" && fields >> first >> second) {
            image.sites.emplace_back(first, second);
        } else if (what == "reader" && fields >> first >> second) {
            image.readers.push_back({first, second});
        } else {
            return false;
        }
        if (!fields) return false;
    }
    return image.text.begin < image.text.end && image.text.begin % 8 == 0 &&
           !image.requests.empty();
}

bool read_text(const Image& image, std::vector<std::uint8_t>& text) {
    std::ifstream file(image.bytes, std::ios::binary);
    text.resize(image.text.end - image.text.begin);
    file.read(reinterpret_cast<char*>(text.data()), static_cast<std::streamsize>(text.size()));
    return static_cast<bool>(file);
}

bool write_result(const std::string& path, const Model& model, const std::string& unknown) {
    std::ofstream out(path);
    const Events& events = model.events;
    std::uint64_t most_cleans = 0, most_invalidates = 0;
    for (const auto& [address, line] : model.lines) {
        most_cleans = std::max(most_cleans, line.cleans);
        most_invalidates = std::max(most_invalidates, line.invalidates);
    }
    unsigned seen = 0;
    for (const Core& core : model.cores) seen += core.barrier != 0;
    out << std::boolalpha << "{\"unknown\": \"" << unknown << "\", \"cores\": " << seen
        << ", \"needs\": {\"clean\": " << model.caches().clean
        << ", \"invalidate\": " << model.caches().invalidate
        << ", \"dcache_line_bytes\": " << model.caches().dcache_line_bytes
        << ", \"icache_line_bytes\": " << model.caches().icache_line_bytes << "},\n\"events\": {";
    const std::pair<const char*, std::uint64_t> figures[] = {
        {"requests", events.requests},
        {"word_stores", events.word_stores},
        {"stores_outside_requests", events.outside_requests},
        {"slot_stores", events.slot_stores},
        {"slot_reads", events.slot_reads},
        {"uses", events.uses},
        {"uses_ended", events.uses_ended},
        {"cleans", events.cleans},
        {"needless_cleans", events.needless_cleans},
        {"most_cleans_of_a_line", most_cleans},
        {"invalidates", events.invalidates},
        {"needless_invalidates", events.needless_invalidates},
        {"early_invalidates", events.early_invalidates},
        {"most_invalidates_of_a_line", most_invalidates},
        {"maintenance_elsewhere", events.elsewhere},
        {"barriers", events.barriers},
        {"weaker_barriers", events.weaker_barriers},
        {"isbs", events.isbs},
        {"exceptions", events.exceptions},
        {"erets", events.erets},
        {"executions", events.executions},
        {"executions_meanwhile", events.meanwhile},
        {"executions_checked", events.checked},
    };
    const char* comma = "";
    for (const auto& [name, figure] : figures) {
        out << comma << "\n\"" << name << "\": " << figure;
        comma = ",";
    }
    out << "},\n\"lines\": [";
    comma = "";
    for (const auto& [address, line] : model.lines) {
        if (line.cleans == 0 && line.invalidates == 0) continue;
        out << comma << "\n[\"0x" << std::hex << address << std::dec << "\", " << line.cleans
            << ", " << line.invalidates << "]";
        comma = ",";
    }
    out << "],\n\"faults\": [";
    comma = "";
    for (const Fault& fault : model.faults) {
        out << comma << "\n{\"kind\": \"" << fault.kind << "\", \"core\": " << fault.core
            << ", \"address\": \"0x" << std::hex << fault.address << std::dec
            << "\", \"times\": " << fault.times << ", \"sentence\": \"" << fault.sentence << "\"}";
        comma = ",";
    }
    out << "\n]}\n";
    return static_cast<bool>(out.flush());
}

}  // namespace coherence
