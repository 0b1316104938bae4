// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/memory.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::text_test {

TEST(Text, Console) {
    EXPECT_EQ(for_terminal("a\r\nb\tc\n"), "a\nb\tc\n");
    EXPECT_EQ(for_terminal("\x1b]0;x\x07\r\x7f"), "\\x1b]0;x\\x07\\x0d\\x7f");
    EXPECT_EQ(for_terminal("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80"),
              "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80");
    EXPECT_EQ(for_terminal("\xc2\x9b"
                           "31m"),
              "\\xc2\\x9b31m");  // a C1 control sequence
    EXPECT_EQ(for_terminal("\xc0\x80\xed\xa0\x80\xff"), "\\xc0\\x80\\xed\\xa0\\x80\\xff");
    EXPECT_EQ(for_cell("a\nb"), "a\\x0ab");
    EXPECT_EQ(to_utf8("a\xff"
                      "b\xc3"),
              "a\xef\xbf\xbd"
              "b\xef\xbf\xbd");
    for (const auto& [number, all] : {std::pair(0, "0"), {999, "999"}, {1234567, "1,234,567"}})
        EXPECT_EQ(with_commas(number), all);
    for (const auto& [ns, few] : {std::pair<std::uint64_t, const char*>(999, "999 ns"),
                                  {1000, "1.00 us"},
                                  {9'996, "10.0 us"},
                                  {999'600, "1.00 ms"},
                                  {12'345'000'000, "12.3 s"},
                                  {12'345'000'000'000, "12345 s"}}) {
        EXPECT_EQ(human_ns(ns), few);
    }
}

// Python's unicodedata, Cf, Zl and Zp; for U+3164 and U+FE0F DerivedCoreProperties.txt.
TEST(Text, CharactersThatAreNotSeenAreEscaped) {
    for (const char32_t code : {0xad,   0x61c,  0x180e, 0x200b, 0x200c,  0x200d,  0x200e, 0x200f,
                                0x2028, 0x2029, 0x202a, 0x202e, 0x2060,  0x2066,  0x2069, 0x206f,
                                0x3164, 0xfe0f, 0xfeff, 0xfff9, 0xe0001, 0xe007f, 0x1d173}) {
        const std::string text = fs::path(std::u32string(1, code)).string();  // in UTF-8
        const std::string escape = fmt::format("\\u{{{:x}}}", static_cast<unsigned>(code));
        EXPECT_EQ(for_terminal(text), escape);
        EXPECT_EQ(for_cell("a" + text + "b"), "a" + escape + "b");
    }
    for (const char* const seen :
         {"\u00a0", "\u00ae", "\u061b", "\u200a", "\u2010", "\u2027", "\u202f", "\u2070", "\uff9f",
          "\ufffd", "\U0001f600", "\U000dffff", "\u05d0"}) {
        EXPECT_EQ(for_terminal(seen), seen);
    }
}

TEST(Text, OutOfMemoryIsASentence) {
    EXPECT_EQ(sentence_of(std::bad_alloc()), out_of_memory_sentence);
    EXPECT_EQ(sentence_of(std::length_error("vector")), out_of_memory_sentence);
    EXPECT_EQ(sentence_of(std::runtime_error("a file")), "a file");
}

}  // namespace nopscope::host::test::text_test
