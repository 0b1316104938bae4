// SPDX-License-Identifier: Apache-2.0
// pprof's profile.proto, gzipped. Each call path has its last function's calls, its own
// nanoseconds, and the number of samples taken in it.
#include <map>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/views/export/formats.hpp"
#include "host-tools/views/export/proto.hpp"

namespace nopscope::host {
namespace {

// Field numbers from pprof's proto/profile.proto.
enum class profile : std::uint32_t {
    sample_type = 1,
    sample = 2,
    mapping = 3,
    location = 4,
    function = 5,
    string = 6,
    duration_ns = 10,
    default_type = 14
};
enum class value_type : std::uint32_t { type = 1, unit = 2 };
enum class sample : std::uint32_t { locations = 1, values = 2 };
enum class mapping : std::uint32_t {
    id = 1,
    start = 2,
    limit = 3,
    filename = 5,
    build_id = 6,
    has_functions = 7,
    has_filenames = 8,
    has_lines = 9
};
enum class place_fields : std::uint32_t { id = 1, mapping = 2, address = 3, line = 4 };
enum class line : std::uint32_t { function = 1, number = 2 };
enum class function : std::uint32_t {
    id = 1,
    name = 2,
    system_name = 3,
    filename = 4,
    start_line = 5
};

class Strings {
public:
    Strings() { (*this)(""); }
    std::uint64_t operator()(std::string_view text) {
        const auto [at, is_new] = numbers_.try_emplace(to_utf8(text), numbers_.size());
        if (is_new) in_order_.push_back(&at->first);
        return at->second;
    }
    void write(Proto& to) const {
        for (const std::string* text : in_order_) to.bytes(profile::string, *text);
    }

private:
    std::map<std::string, std::uint64_t> numbers_;
    std::vector<const std::string*> in_order_;
};

// Size of the uncompressed paths. Deep paths can turn some kilobytes of recording into gigabytes,
// and readers uncompress all of it.
std::uint64_t path_bytes(const PathTree& tree) {
    std::vector<std::uint64_t> lengths(tree.nodes.size());
    std::uint64_t bytes = 0;
    for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
        const TreeNode& node = tree.nodes[i];
        lengths[i] =
            lengths[node.parent] + Proto().varint(std::uint64_t{node.function} + 1).text().size();
        bytes += lengths[i];
    }
    return bytes;
}

void add_samples(FileWriter& file, const PathTree& tree) {
    for (const TreeNode& node : tree.nodes) {
        if (node.calls == 0 && node.self_ns == 0 && node.samples == 0) continue;
        Proto locations;
        locations.varint(std::uint64_t{node.function} + 1);
        for (std::uint32_t at = node.parent; at != 0; at = tree.nodes[at].parent) {
            locations.varint(std::uint64_t{tree.nodes[at].function} + 1);
        }
        Proto values;
        values.varint(node.calls).varint(node.self_ns);
        if (tree.has_samples) values.varint(node.samples);
        file.write(
            Proto()
                .message(
                    profile::sample,
                    Proto().message(sample::locations, locations).message(sample::values, values))
                .text());
    }
}

}  // namespace

std::string write_pprof(const Output& output, const Aggregated& from) {
    const PathTree tree = path_tree(from);
    const std::uint64_t unpacked = path_bytes(tree);
    if (unpacked > output.most_bytes()) {
        throw Error(
            too_large_sentence(output.name() + ", unpacked,", unpacked, output.most_bytes()));
    }
    FileWriter file(output);
    file.gzip();
    Strings strings;
    Proto head;
    const auto type = [&](const char* what, const char* unit) {
        head.message(profile::sample_type, Proto()
                                               .number(value_type::type, strings(what))
                                               .number(value_type::unit, strings(unit)));
    };
    type("calls", "count");
    type("time", "nanoseconds");
    if (tree.has_samples) type("samples", "count");
    head.number(profile::default_type, strings(tree.has_times ? "time" : "samples"));
    head.number(profile::duration_ns, from.report.duration_ns);
    std::uint64_t limit = 0;
    for (const FunctionPlace& place : tree.functions) limit = std::max(limit, place.address + 1);
    head.message(profile::mapping,
                 Proto()
                     .number(mapping::id, 1)
                     .number(mapping::limit, limit)
                     .number(mapping::filename, strings(from.report.image))
                     .number(mapping::build_id, strings(to_hex(from.report.build_id)))
                     .number(mapping::has_functions, 1)
                     .number(mapping::has_filenames, 1)
                     .number(mapping::has_lines, 1));
    for (std::size_t i = 0; i < tree.functions.size(); ++i) {
        const FunctionPlace& place = tree.functions[i];
        const std::uint64_t name = strings(place.name);
        head.message(
            profile::location,
            Proto()
                .number(place_fields::id, i + 1)
                .number(place_fields::mapping, 1)
                .number(place_fields::address, place.address)
                .message(place_fields::line,
                         Proto().number(line::function, i + 1).number(line::number, place.line)));
        head.message(profile::function, Proto()
                                            .number(function::id, i + 1)
                                            .number(function::name, name)
                                            .number(function::system_name, name)
                                            .number(function::filename, strings(place.file))
                                            .number(function::start_line, place.line));
    }
    strings.write(head);
    file.write(head.text());
    add_samples(file, tree);
    file.close();
    return left_out_of_sums(from.report);
}

}  // namespace nopscope::host
