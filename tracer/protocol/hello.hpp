// SPDX-License-Identifier: Apache-2.0
// Hello describes the target and its recording. The target sends it first and again about once a
// second, so a host that connects late can decode. docs/trace-format.md has the layout.
//
// A hello is a head, which each reader needs, and extensions: tag, length, value. extensions_of()
// lists all extensions. A new field is a member of HelloFields and a line of that list.
#pragma once

#include <array>
#include <type_traits>

#include "tracer/protocol/frame.hpp"
#include "tracer/protocol/recorders.hpp"

namespace nopscope::protocol {

// A short byte string that it does not own: part of a parsed payload, or in static storage.
struct Text {
    const Byte* data = nullptr;
    std::uint8_t size = 0;

    // Like std::string's assign().
    constexpr void assign(const Byte* first, const Byte* last) {
        *this = {first, static_cast<std::uint8_t>(last - first)};
    }
    constexpr bool empty() const { return size == 0; }
};

// Of the image. Also decides what the other texts and numbers of a target mean: the names of its
// clocks and registers, and the unit of the addresses in samples.
enum class Architecture : std::uint8_t { arm64 = 0, riscv64 = 1 };

// Hello's version. That of other architectures than arm64 is larger, because hosts that know no
// other would read their lines as arm64's. The formats are the same.
constexpr std::uint16_t format_version_of(Architecture architecture) {
    return architecture == Architecture::arm64 ? format_version : format_version + 1;
}
inline constexpr std::uint16_t last_format_version = format_version_of(Architecture::riscv64);

enum class Clock : std::uint8_t { timer = 0, cycles = 1 };

inline constexpr unsigned overhead_unit = 256;

// The time that recording one call takes, in 1/256 ticks, as measured at boot.
struct Overhead {
    std::int32_t inside = 0;   // the part in the call's own time
    std::int32_t outside = 0;  // the part in its caller's time
};

// How many of its recorder's instructions a call that counts events executes: those INST_RETIRED
// events that are not the function's own.
struct EventCosts {
    bool known = false;
    std::uint16_t graph_inside = 0;        // counted for the call
    std::uint16_t graph_outside = 0;       // counted for its caller, with one event
    std::uint16_t graph_outside_both = 0;  // and with two
    std::uint16_t profile_inside = 0;
    std::uint16_t profile_outside = 0;
};

// Patch sites that the target never changes, by reason.
struct RefusedSites {
    bool known = false;
    std::uint32_t misaligned = 0;  // the slot is not 8-byte aligned
    std::uint32_t outside = 0;     // not in the text
    std::uint32_t words = 0;       // the words are not those of a patch site
};

// `TextType`: Text, or a type that owns its bytes and has the same assign().
template <typename TextType>
struct HelloFields {
    // The head.
    std::uint16_t version = format_version;
    bool lossless = false;  // the mode in which the recording began; neither: stream
    bool flight = false;
    bool recovered = false;  // found in memory after a warm reset: the last records may be missing
    bool takes_commands = false;
    std::uint8_t cores = 1;
    std::uint64_t clock_hz = 0;
    std::uint64_t text_base = 0;  // run-time address; sites in trace frames count from here
    std::uint64_t load_bias = 0;  // run-time minus link-time address of the image
    std::uint32_t site_count = 0;
    std::uint32_t site_table_crc = 0;  // CRC-32C of the link-time sites, ascending, u64 each

    // Extensions.
    TextType build_id{};
    TextType board{};
    TextType image{};
    std::uint32_t line_bytes_per_second = 0;  // the limit of the pump; 0: none
    Clock clock = Clock::timer;
    bool calibrated = false;
    std::int32_t landing_pad = 0;  // in 1/256 ticks; `overheads` are for functions with one
    std::array<Overhead, overhead_count> overheads{};  // by overhead_index()
    EventCosts event_costs{};
    RefusedSites refused_sites{};
    std::uint32_t sequences_from = 0;  // if recovered: each stream's first number after the reset
    Architecture architecture{};
};
using Hello = HelloFields<Text>;

// The extensions, by ascending tag. A tag is never given to another field.
//
//     list.field(tag, name, member)               sent unless it has its default
//     list.group(tag, name, known, members...)    sent if `known`
//
// A group may grow at its end. A reader leaves members that the value does not have at their
// defaults, and ignores numbers that follow those that it knows.
template <typename Fields, typename List>
constexpr void extensions_of(Fields& hello, List&& list) {
    list.field(1, "build_id", hello.build_id);
    list.field(2, "board", hello.board);
    list.field(3, "image", hello.image);
    list.field(4, "line_bytes_per_second", hello.line_bytes_per_second);
    list.field(5, "clock", hello.clock);
    list.group(6, "overheads", hello.calibrated, hello.landing_pad, hello.overheads);
    list.group(7, "event_costs", hello.event_costs.known, hello.event_costs.graph_inside,
               hello.event_costs.graph_outside, hello.event_costs.graph_outside_both,
               hello.event_costs.profile_inside, hello.event_costs.profile_outside);
    list.group(8, "refused_sites", hello.refused_sites.known, hello.refused_sites.misaligned,
               hello.refused_sites.outside, hello.refused_sites.words);
    list.field(9, "sequences_from", hello.sequences_from);
    list.field(10, "architecture", hello.architecture);
}

// Calls `use` for each number in a member of an extension.
template <typename Member, typename Use>
constexpr void numbers_of(Member& member, Use&& use) {
    if constexpr (requires { member.inside; }) {
        use(member.inside);
        use(member.outside);
    } else if constexpr (requires { member.begin(); }) {
        for (auto& each : member) numbers_of(each, use);
    } else {
        use(member);
    }
}

// The number that an extension sends as a varint: a signed number's zigzag.
template <typename Number>
constexpr std::uint64_t as_varint(Number number) {
    if constexpr (std::is_signed_v<Number>) return zigzag(number);
    return static_cast<std::uint64_t>(number);
}

inline constexpr std::size_t hello_head_bytes = 2 + 1 + 1 + 3 * 8 + 2 * 4;
inline constexpr std::size_t max_extension_bytes = 255;  // of its value

// The bytes that hello's extensions take at most.
struct ExtensionBounds {
    std::size_t bytes = 0;
    unsigned last_tag = 0;
    bool well_formed = true;  // tags ascend, each fits a byte, and so does each length

    template <typename Member>
    constexpr void field(unsigned tag, const char*, const Member& member) {
        if constexpr (std::is_same_v<Member, Text>) {
            add(tag, max_extension_bytes);
        } else {
            group(tag, nullptr, true, member);
        }
    }
    template <typename... Members>
    constexpr void group(unsigned tag, const char*, bool, const Members&... members) {
        std::size_t most = 0;
        const auto add_number = [&](auto number) { most += (8 * sizeof number + 6) / 7; };
        (numbers_of(members, add_number), ...);
        add(tag, most);
    }

private:
    constexpr void add(unsigned tag, std::size_t most) {
        well_formed = well_formed && tag > last_tag && tag <= 255 && most <= max_extension_bytes;
        last_tag = tag;
        bytes += 2 + most;
    }
};
consteval ExtensionBounds extension_bounds() {
    ExtensionBounds bounds;
    const Hello hello;
    extensions_of(hello, bounds);
    return bounds;
}
static_assert(extension_bounds().well_formed);

inline constexpr std::size_t max_hello_bytes = hello_head_bytes + extension_bounds().bytes;
static_assert(max_hello_bytes <= max_payload_bytes);

class ExtensionWriter {
public:
    explicit ExtensionWriter(Byte* at) : at_(at) {}

    template <typename Member>
    void field(std::uint8_t tag, const char*, const Member& member) {
        if constexpr (std::is_same_v<Member, Text>) {
            text(tag, member);
        } else if (const std::uint64_t value = as_varint(member); value != as_varint(Member{})) {
            begin(tag);
            number(value);
        }
    }
    template <typename... Members>
    void group(std::uint8_t tag, const char*, bool known, const Members&... members) {
        if (!known) return;
        begin(tag);
        (numbers_of(members, [this](auto value) { number(as_varint(value)); }), ...);
    }
    Byte* at() const { return at_; }

private:
    void begin(std::uint8_t tag) {
        *at_ = tag;
        value_ = at_ += 2;
    }
    // Not inline: the target's code has it once for all extensions.
    [[gnu::noinline]] void number(std::uint64_t value) {
        Writer out(at_);
        out.varint(value);
        end(at_ + out.size());
    }
    [[gnu::noinline]] void text(std::uint8_t tag, const Text& text) {
        if (text.empty()) return;
        begin(tag);
        Writer(at_).bytes(text.data, text.size);
        end(at_ + text.size);
    }
    void end(Byte* at) {
        at_ = at;
        value_[-1] = static_cast<Byte>(at - value_);
    }

    Byte* at_;
    Byte* value_ = nullptr;  // where the value begins; its length is before it
};

// Returns the payload bytes written; at most max_hello_bytes.
[[gnu::noinline]] inline std::size_t write_hello(const Hello& hello, Byte* to) {
    Writer out(to);
    out.fixed(hello.version);
    out.fixed(static_cast<std::uint8_t>((hello.lossless ? 1 : 0) | (hello.flight ? 2 : 0) |
                                        (hello.recovered ? 4 : 0) |
                                        (hello.takes_commands ? 8 : 0)));
    out.fixed(hello.cores);
    out.fixed(hello.clock_hz);
    out.fixed(hello.text_base);
    out.fixed(hello.load_bias);
    out.fixed(hello.site_count);
    out.fixed(hello.site_table_crc);
    ExtensionWriter extensions(to + out.size());
    extensions_of(hello, extensions);
    return static_cast<std::size_t>(extensions.at() - to);
}

// Reads one extension into the member that has its tag, if there is one.
class ExtensionReader {
public:
    ExtensionReader(std::uint8_t tag, const Byte* value, std::size_t count)
        : tag_(tag), value_(value), count_(count) {}

    template <typename Member>
    void field(std::uint8_t tag, const char*, Member& member) {
        if constexpr (requires { member.assign(value_, value_); }) {
            if (tag == tag_) member.assign(value_, value_ + count_);
        } else {
            bool known = false;
            group(tag, nullptr, known, member);
        }
    }
    template <typename... Members>
    void group(std::uint8_t tag, const char*, bool& known, Members&... members) {
        if (tag != tag_) return;
        Reader in(value_, count_);
        bool is_first = true;
        const auto take = [&](auto& number) {
            if (is_first || in.left() != 0) ok_ = read_number(in, number) && ok_;
            is_first = false;
        };
        (numbers_of(members, take), ...);
        known = ok_;
    }
    // False: the value ends inside a number, or a number is too large for its member.
    bool ok() const { return ok_; }

private:
    template <typename Number>
    static bool read_number(Reader& in, Number& number) {
        const std::uint64_t bits = in.varint();
        if constexpr (std::is_signed_v<Number>) {
            number = static_cast<Number>(unzigzag(bits));
        } else {
            number = static_cast<Number>(bits);
        }
        return in.ok() && as_varint(number) == bits;
    }

    std::uint8_t tag_;
    const Byte* value_;
    std::size_t count_;
    bool ok_ = true;
};

// Reads the part that versions 2 and 3 share, between the version and the first text or extension.
template <typename Fields>
void read_hello_head(Reader& in, Fields& hello) {
    const auto flags = in.fixed<std::uint8_t>();
    hello.lossless = (flags & 1) != 0;
    hello.flight = (flags & 2) != 0;
    hello.recovered = (flags & 4) != 0;
    hello.takes_commands = (flags & 8) != 0;
    hello.cores = in.fixed<std::uint8_t>();
    hello.clock_hz = in.fixed<std::uint64_t>();
    hello.text_base = in.fixed<std::uint64_t>();
    hello.load_bias = in.fixed<std::uint64_t>();
    hello.site_count = in.fixed<std::uint32_t>();
    hello.site_table_crc = in.fixed<std::uint32_t>();
}

// False: malformed. With another `version` only that field is set, and the result is true.
template <typename Fields>
bool read_hello(const Byte* payload, std::size_t count, Fields& hello) {
    Reader in(payload, count);
    hello = {};
    hello.version = in.fixed<std::uint16_t>();
    if (in.ok() && (hello.version < format_version || hello.version > last_format_version))
        return true;
    read_hello_head(in, hello);
    for (unsigned last_tag = 0; in.ok() && in.left() != 0;) {
        const auto tag = in.fixed<std::uint8_t>();
        const auto bytes = in.fixed<std::uint8_t>();
        ExtensionReader extension(tag, in.bytes(bytes), bytes);
        if (!in.ok() || tag <= last_tag) return false;
        extensions_of(hello, extension);
        if (!extension.ok()) return false;
        last_tag = tag;
    }
    return in.ok() && hello.clock_hz != 0 && hello.cores != 0;
}

}  // namespace nopscope::protocol
