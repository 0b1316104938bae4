// SPDX-License-Identifier: Apache-2.0
// Hello's extensions, all of extensions_of()'s list; and hellos of format 2.
#include "host-tools/line/stream/hello_reader.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::hello_test {

using OwnHello = protocol::HelloFields<std::string>;

// Gives each member a value of its own, or its largest.
struct Filler {
    bool largest = false;
    unsigned only_tag = 0;  // 0: all
    unsigned last_tag = 255;
    unsigned count = 0;

    template <typename Member>
    void field(unsigned tag, const char*, Member& member) {
        if ((only_tag != 0 && tag != only_tag) || tag > last_tag) return;
        if constexpr (std::is_same_v<Member, protocol::Text>) {
            const Bytes& text =
                texts.emplace_back(largest ? 255 : 3 + tag, static_cast<std::uint8_t>('a' + tag));
            member.assign(text.data(), text.data() + text.size());
        } else {
            fill(member);
        }
    }
    template <typename... Members>
    void group(unsigned tag, const char*, bool& known, Members&... members) {
        if ((only_tag != 0 && tag != only_tag) || tag > last_tag) return;
        known = true;
        (protocol::numbers_of(members, [this](auto& number) { this->fill(number); }), ...);
    }
    template <typename Number>
    void fill(Number& number) {
        ++count;
        if constexpr (std::is_enum_v<Number>) {
            number = static_cast<Number>(largest ? 255 : 1);
        } else {
            // Zigzag makes the largest number of the least one.
            using Limits = std::numeric_limits<Number>;
            const auto value = static_cast<Number>(std::is_signed_v<Number> ? -200 - int(count)
                                                                            : 200 + int(count));
            number = !largest ? value : std::is_signed_v<Number> ? Limits::min() : Limits::max();
        }
    }
    std::vector<Bytes> texts{};
};

// What a hello's extensions say, by tag: "refused_sites 5 6 0". Only a name, if one is not sent.
struct Teller {
    std::map<unsigned, std::string>& told;

    template <typename Member>
    void field(unsigned tag, const char* name, const Member& member) {
        if constexpr (std::is_same_v<Member, protocol::Text>) {
            told[tag] = name + std::string(member.data, member.data + member.size);
        } else if constexpr (std::is_same_v<Member, std::string>) {
            told[tag] = name + member;
        } else {
            group(tag, name, member != Member{}, member);
        }
    }
    template <typename... Members>
    void group(unsigned tag, const char* name, bool known, const Members&... members) {
        std::string& text = told[tag] = name;
        const auto add = [&](auto number) {
            text += fmt::format(" {}", static_cast<std::int64_t>(number));
        };
        if (known) (protocol::numbers_of(members, add), ...);
    }
};
std::map<unsigned, std::string> told_by(const auto& hello) {
    std::map<unsigned, std::string> told;
    protocol::extensions_of(hello, Teller{told});
    return told;
}

protocol::Hello headed() {
    protocol::Hello hello;
    hello.flight = true;
    hello.takes_commands = true;
    hello.cores = 4;
    hello.clock_hz = 62'500'000;
    hello.text_base = 0xffff'0000'4008'0000;
    hello.load_bias = 0xffff'0000'0000'0000;
    hello.site_count = 77;
    hello.site_table_crc = 0xabcdef01;
    return hello;
}

// The texts lie in the filler.
protocol::Hello filled(Filler& filler) {
    protocol::Hello hello = headed();
    protocol::extensions_of(hello, filler);
    return hello;
}

Bytes payload_of(const protocol::Hello& hello) {
    Bytes payload(protocol::max_payload_bytes);
    payload.resize(protocol::write_hello(hello, payload.data()));
    return payload;
}

template <typename Fields = OwnHello>
bool reads(const Bytes& payload, Fields&& hello = {}) {
    return protocol::read_hello(payload.data(), payload.size(), hello);
}

// A hello with nothing but these extensions.
Bytes with(const Bytes& extensions) {
    Bytes payload = payload_of(headed());
    payload.insert(payload.end(), extensions.begin(), extensions.end());
    return payload;
}

template <typename Fields>
auto head_of(const Fields& of) {
    return std::tuple(of.lossless, of.recovered, of.flight, of.takes_commands, of.cores,
                      of.clock_hz, of.text_base, of.load_bias, of.site_count, of.site_table_crc);
}

TEST(Hello, EachExtensionComesBackAsItWas) {
    for (const bool largest : {false, true}) {
        Filler filler{.largest = largest};
        const protocol::Hello hello = filled(filler);
        EXPECT_GT(filler.count, 15u);
        const Bytes payload = payload_of(hello);
        EXPECT_EQ(payload.size() == protocol::max_hello_bytes, largest);
        OwnHello back;
        ASSERT_TRUE(reads(payload, back));
        EXPECT_EQ(back.version, protocol::format_version);
        EXPECT_EQ(head_of(back), head_of(headed()));
        EXPECT_EQ(told_by(back), told_by(hello));
        protocol::Hello in_place;
        ASSERT_TRUE(reads(payload, in_place));
        EXPECT_EQ(payload_of(in_place), payload);
    }
}

TEST(Hello, AnExtensionIsSentByItselfAndADefaultIsNot) {
    EXPECT_EQ(payload_of(headed()).size(), protocol::hello_head_bytes);
    for (const auto& [tag, name] : told_by(protocol::Hello{})) {
        Filler filler{.only_tag = tag};
        const protocol::Hello hello = filled(filler);
        const Bytes payload = payload_of(hello);
        constexpr std::size_t head = protocol::hello_head_bytes;
        ASSERT_GT(payload.size(), head + 2) << name;
        EXPECT_EQ(payload[head], tag);
        EXPECT_EQ(payload[head + 1], payload.size() - head - 2) << name;
        OwnHello back;
        ASSERT_TRUE(reads(payload, back)) << name;
        EXPECT_EQ(told_by(back), told_by(hello)) << name;
    }
}

TEST(Hello, UnknownExtensionsAreSkipped) {
    Filler filler;
    const protocol::Hello hello = filled(filler);
    Bytes payload = payload_of(hello);
    const unsigned unknown = told_by(hello).rbegin()->first + 1;
    for (const Bytes& extension : {Bytes{0}, Bytes{1, 0x80}, Bytes{3, 9, 9, 9}}) {
        payload.push_back(static_cast<std::uint8_t>(unknown + extension.size()));
        payload.insert(payload.end(), extension.begin(), extension.end());
    }
    OwnHello back;
    ASSERT_TRUE(reads(payload, back));
    EXPECT_EQ(told_by(back), told_by(hello));
}

TEST(Hello, AWrongTagOrLengthIsMalformed) {
    Filler filler;
    const Bytes payload = payload_of(filled(filler));
    std::size_t end_of_extension = protocol::hello_head_bytes;
    for (std::size_t cut = 0; cut < payload.size(); ++cut) {
        const bool whole = cut == end_of_extension;
        EXPECT_EQ(reads(Bytes(payload.begin(), payload.begin() + static_cast<long>(cut))), whole)
            << cut;
        if (whole) end_of_extension += 2u + payload[cut + 1];
    }
    EXPECT_TRUE(reads(with({2, 1, 'b', 3, 1, 'i'})));
    EXPECT_TRUE(reads(with({4, 5, 0xff, 0xff, 0xff, 0xff, 0x0f})));
    const std::map<std::string, std::vector<Bytes>> malformed{
        {"a tag that comes twice", {{2, 1, 'b', 2, 1, 'b'}, {200, 1, 'x', 200, 1, 'x'}}},
        {"a tag that comes too late", {{3, 1, 'i', 2, 1, 'b'}, {201, 1, 'x', 200, 1, 'x'}}},
        {"no tag", {{0, 1, 'x'}}},
        {"beyond the payload", {{2, 2, 'b'}}},
        {"no length", {{2}}},
        {"a number of no bytes", {{4, 0}}},
        {"ends inside a number", {{4, 1, 0x80}, {8, 2, 5, 0x80}}},
        // 2^32, of 32 bits; 2^31, of 32 bits and a sign
        {"too large a number",
         {{4, 5, 0x80, 0x80, 0x80, 0x80, 0x10}, {6, 5, 0x80, 0x80, 0x80, 0x80, 0x10}}}};
    for (const auto& [why, all] : malformed) {
        for (const Bytes& extensions : all) EXPECT_FALSE(reads(with(extensions))) << why;
    }
}

TEST(Hello, AGroupMayBeShorterOrLonger) {
    OwnHello hello;
    ASSERT_TRUE(reads(with({8, 2, 5, 6}), hello));
    EXPECT_EQ(told_by(hello)[8], "refused_sites 5 6 0");
    EXPECT_FALSE(hello.event_costs.known);
    ASSERT_TRUE(reads(with({8, 5, 5, 6, 7, 0x80, 0xff}), hello));
    EXPECT_EQ(hello.refused_sites.words, 7u);
}

TEST(Hello, OfAnotherVersionOnlyTheVersionIsRead) {
    protocol::Hello hello = headed();
    hello.version = 9;
    Bytes payload = payload_of(hello);
    payload.resize(3);
    OwnHello back;
    ASSERT_TRUE(read_any_hello(payload, back));
    EXPECT_EQ(back.version, 9);
    EXPECT_FALSE(reads_format(9));
    EXPECT_TRUE(reads_format(2) && reads_format(3) && reads_format(4));
    EXPECT_FALSE(reads_format(1));
}

TEST(Hello, OfAnotherArchitectureIsFormat4) {
    protocol::Hello hello = headed();
    hello.architecture = protocol::Architecture::riscv64;
    hello.version = protocol::format_version_of(hello.architecture);
    EXPECT_EQ(hello.version, 4);
    EXPECT_EQ(protocol::format_version_of(protocol::Architecture::arm64), 3);
    OwnHello back;
    ASSERT_TRUE(read_any_hello(payload_of(hello), back));
    EXPECT_EQ(head_of(back), head_of(headed()));
    EXPECT_EQ(back.architecture, hello.architecture);
    EXPECT_TRUE(is_known(back));
    back.architecture = static_cast<protocol::Architecture>(2);
    EXPECT_FALSE(is_known(back));
}

TEST(Hello, WithoutAClockOrCoresIsMalformed) {
    protocol::Hello no_clock = headed(), no_cores = headed();
    no_clock.clock_hz = no_cores.cores = 0;
    for (const protocol::Hello& hello : {no_clock, no_cores})
        EXPECT_FALSE(reads(payload_of(hello)));
}

TEST(Hello, TheTableInTheDocumentIsTheList) {
    std::ifstream file(NOPSCOPE_GOLDEN "/../../docs/trace-format.md");
    const std::regex row(R"(\| (\d+) \| `(\w+)` \|.*)");
    std::map<unsigned, std::string> table;
    bool inside = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("#")) inside = line == "### Extensions of hello";
        if (std::smatch match; inside && std::regex_match(line, match, row)) {
            EXPECT_TRUE(
                table.try_emplace(static_cast<unsigned>(std::stoul(match[1])), match[2]).second)
                << line;
        }
    }
    EXPECT_EQ(table, told_by(protocol::Hello{}));
}

TEST(Hello, OfFormat2IsReadUpToWhereATargetEndsIt) {
    Filler filler{.last_tag = 9};  // format 2 has no later field
    const protocol::Hello hello = filled(filler);
    Bytes payload(protocol::max_payload_bytes);
    payload.resize(test::write_hello_2(hello, payload.data()));
    OwnHello back;
    ASSERT_TRUE(read_any_hello(payload, back));
    EXPECT_EQ(back.version, 2);
    EXPECT_EQ(head_of(back), head_of(headed()));
    EXPECT_EQ(told_by(back), told_by(hello));
    payload.push_back(5);  // what follows the last field is ignored
    EXPECT_TRUE(read_any_hello(payload, back));
    payload.pop_back();

    const auto cut_reads = [&](std::size_t size) {
        return read_any_hello(std::span(payload).first(size), back);
    };
    unsigned ends = 0;
    for (std::size_t cut = 0; cut < payload.size(); ++cut) ends += cut >= 2 && cut_reads(cut);
    EXPECT_EQ(ends, 4u) << "after the image, the overheads, the event costs, and the refused sites";
    const std::size_t without_sequences = payload.size() - 2;
    ASSERT_TRUE(cut_reads(without_sequences));
    EXPECT_EQ(back.sequences_from, 0u);
    EXPECT_TRUE(back.refused_sites.known && back.event_costs.known && back.calibrated);
    std::size_t after_image = protocol::hello_head_bytes + 4 + 3 + hello.build_id.size +
                              hello.board.size + hello.image.size;
    ASSERT_TRUE(cut_reads(after_image));
    EXPECT_EQ(back.image.size(), hello.image.size);
    EXPECT_FALSE(back.calibrated || back.event_costs.known || back.refused_sites.known);
    EXPECT_EQ(back.clock, protocol::Clock::timer);
}

}  // namespace nopscope::host::test::hello_test
