// SPDX-License-Identifier: Apache-2.0
#include "host-tools/line/memory/described_target.hpp"

#include <fmt/format.h>

#include <cstring>

#include "host-tools/base/error.hpp"
#include "host-tools/base/text.hpp"
#include "host-tools/line/stream/diagnosis.hpp"
#include "host-tools/line/stream/hello_reader.hpp"

namespace nopscope::host {
namespace {

// The limits of tracer/core/core.hpp.
constexpr unsigned least_ring_log2 = 13, most_ring_log2 = 28, most_cores = 8;
constexpr char note_symbol[] = "__build_id_note_start";
constexpr char descriptor_symbol[] = "nopscope_descriptor";

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

template <typename T>
T field(std::span<const std::uint8_t> bytes, std::size_t offset) {
    T value{};
    if (offset <= bytes.size() && sizeof value <= bytes.size() - offset) {
        std::memcpy(&value, bytes.data() + offset, sizeof value);
    }
    return value;
}

}  // namespace

DescribedTarget::DescribedTarget(TargetMemory& memory, const ElfFile& image) : memory_(memory) {
    check_build_id(image);
    read_descriptor(image);
    read_hello();
}

// Runs first: in another image's memory, all other addresses are wrong.
void DescribedTarget::check_build_id(const ElfFile& image) const {
    const auto id = image.build_id();
    const auto note = image.symbol_address(note_symbol);
    if (id.empty() || !note) return;
    constexpr std::size_t before_id = 16;  // sizes of name and contents, type, "GNU"
    const auto in_image = image.bytes_at(*note, before_id + id.size());
    std::vector<std::uint8_t> there(before_id + id.size());
    memory_.read(*note, there);
    if (in_image.empty() || std::equal(in_image.begin(), in_image.end(), there.begin())) return;
    const bool is_note = std::equal(there.begin(), there.begin() + before_id, in_image.begin());
    throw Error(fmt::format(
        "{} is not the image in the target's memory: its build-id is {}, there at {} {} {}",
        image.path(), to_hex(id), hex_address(*note), is_note ? "is" : "is none but",
        to_hex(std::span(there).subspan(is_note ? before_id : 0))));
}

void DescribedTarget::read_descriptor(const ElfFile& image) {
    const auto at = image.symbol_address(descriptor_symbol);
    if (!at) {
        throw Error(image.path() + " has no " + descriptor_symbol +
                    ": it is not linked with the tracer, or with an older one");
    }
    std::uint8_t bytes[sizeof descriptor_];
    memory_.read(*at, bytes);
    std::memcpy(&descriptor_, bytes, sizeof bytes);
    if (descriptor_.magic != Descriptor::right_magic) {
        throw Error(
            fmt::format("at {} in the target's memory there is no tracer that this nopscope knows: "
                        "does {} run there?",
                        hex_address(*at), image.path()));
    }
    if (descriptor_.ready != 1) {
        throw Error(
            "the target's tracer has not been initialised: nopscope::init() was not called yet, or "
            "refused");
    }
    if (descriptor_.ring_log2 < least_ring_log2 || descriptor_.ring_log2 > most_ring_log2 ||
        descriptor_.core_count == 0 || descriptor_.core_count > most_cores ||
        descriptor_.core_stride_bytes == 0 || descriptor_.core_stride_bytes > 0x10000 ||
        descriptor_.hello_bytes > protocol::max_payload_bytes) {
        throw Error(
            fmt::format("the tracer's descriptor at {} makes no sense: was it written over?",
                        hex_address(*at)));
    }
}

void DescribedTarget::read_hello() {
    hello_bytes_.resize(descriptor_.hello_bytes);
    memory_.read(address_of(descriptor_.hello), hello_bytes_);
    const bool is_hello = read_any_hello(hello_bytes_, hello_);
    if (is_hello && !is_known(hello_)) {
        throw Error(refused_version_sentence(hello_.version));
    }
    if (!is_hello || hello_.cores > descriptor_.core_count) {
        throw Error(fmt::format("the tracer's hello at {} makes no sense: was it written over?",
                                hex_address(address_of(descriptor_.hello))));
    }
    // Of the line that pull_rings() writes.
    if (hello_.version < protocol::format_version) hello_.version = protocol::format_version;
}

DescribedCore DescribedTarget::core(unsigned number) const {
    std::vector<std::uint8_t> bytes(descriptor_.core_stride_bytes);
    const std::uint64_t address =
        address_of(descriptor_.cores) + std::uint64_t{number} * descriptor_.core_stride_bytes;
    memory_.read(address, bytes);
    const auto u64 = [&](std::uint16_t offset) { return field<std::uint64_t>(bytes, offset); };
    const auto u32 = [&](std::uint16_t offset) { return field<std::uint32_t>(bytes, offset); };
    const Descriptor& at = descriptor_;
    const DescribedCore core{.cursor = u64(at.cursor),
                             .seen = u64(at.seen),
                             .seen_clock = u64(at.seen_clock),
                             .doubled_from = u64(at.doubled_from),
                             .dropped = u64(at.dropped),
                             .shadow_stack_full = u64(at.shadow_stack_full),
                             .off_stack = u64(at.off_stack),
                             .filtered = u64(at.filtered) + u64(at.calls_skipped),
                             .last_context_recorded = u32(at.last_context_recorded),
                             .flight = u32(at.flight) == 1};
    const std::uint64_t first = std::uint64_t{1} << descriptor_.ring_log2;
    // 2^47 records take 1.5 days at 10^9 per second, and SessionReader refuses a jump of 2^48.
    // `seen` may be after the cursor if the two were read at different times.
    if (core.cursor < first || core.cursor % record_bytes != 0 || core.cursor >> 50 != 0 ||
        core.seen % record_bytes != 0) {
        throw Error(
            fmt::format("the state of core {}'s ring at {} makes no sense: was it written over?",
                        number, hex_address(address)));
    }
    return core;
}

std::vector<std::uint64_t> DescribedTarget::ring(unsigned number, std::uint64_t from,
                                                 std::uint64_t to) const {
    const std::uint64_t bytes = std::uint64_t{1} << descriptor_.ring_log2;
    const std::uint64_t base =
        address_of(descriptor_.rings) + std::uint64_t{number} * descriptor_.ring_stride_bytes;
    std::vector<std::uint64_t> words(static_cast<std::size_t>((to - from) / record_bytes));
    const std::span<std::uint8_t> all(reinterpret_cast<std::uint8_t*>(words.data()),
                                      words.size() * 8);
    // Reads up to the ring's end, then from its beginning.
    const std::uint64_t offset = from & (bytes - 1);
    const auto before_end =
        static_cast<std::size_t>(std::min<std::uint64_t>(all.size(), bytes - offset));
    memory_.read(base + offset, all.first(before_end));
    if (before_end != all.size()) memory_.read(base, all.subspan(before_end));
    return words;
}

}  // namespace nopscope::host
