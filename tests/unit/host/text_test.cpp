// SPDX-License-Identifier: Apache-2.0
#include "host-tools/base/out_of_memory.hpp"
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
    const std::pair<const char*, const char*> cases[] = {
        {"\u00ad", "\\u{ad}"},        {"\u061c", "\\u{61c}"},       {"\u180e", "\\u{180e}"},
        {"\u200b", "\\u{200b}"},      {"\u200c", "\\u{200c}"},      {"\u200d", "\\u{200d}"},
        {"\u200e", "\\u{200e}"},      {"\u200f", "\\u{200f}"},      {"\u2028", "\\u{2028}"},
        {"\u2029", "\\u{2029}"},      {"\u202a", "\\u{202a}"},      {"\u202e", "\\u{202e}"},
        {"\u2060", "\\u{2060}"},      {"\u2066", "\\u{2066}"},      {"\u2069", "\\u{2069}"},
        {"\u206f", "\\u{206f}"},      {"\u3164", "\\u{3164}"},      {"\ufe0f", "\\u{fe0f}"},
        {"\ufeff", "\\u{feff}"},      {"\ufff9", "\\u{fff9}"},      {"\U000e0001", "\\u{e0001}"},
        {"\U000e007f", "\\u{e007f}"}, {"\U0001d173", "\\u{1d173}"},
    };
    for (const auto& [text, escape] : cases) {
        EXPECT_EQ(for_terminal(text), escape);
        EXPECT_EQ(for_cell(std::string("a") + text + "b"), std::string("a") + escape + "b");
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
