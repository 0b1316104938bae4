// SPDX-License-Identifier: Apache-2.0
// Which functions of several builds are the same.
#include "host-tools/figures/diff/builds.hpp"
#include "tests/unit/host/test.hpp"

namespace nopscope::host::test::builds_test {

using Build = std::vector<Builds::Id>;  // names and files; "a=b" is a name with an alias

Symbols symbols_of(const Build& build) {
    Symbols symbols;
    for (const auto& [names, file] : build) {
        const std::size_t end = names.find('=');
        Function function{.name = names.substr(0, end), .file = file};
        if (end != names.npos) function.aliases.push_back(names.substr(end + 1));
        symbols.sites.push_back(function);
    }
    return symbols;
}

struct Case {
    const char* what;
    std::vector<Build> builds;
    // By function of the last build: the same one's index in the first build; -1: none is.
    std::vector<int> same;
};

TEST(SameFunctions, InBuildsOfOtherDirectories) {
    for (const Case& of : std::initializer_list<Case>{
             {"one name, one file", {{{"read", "/a/src/drv.c"}}, {{"read", "/b/src/drv.c"}}}, {0}},
             {"static functions of two files",
              {{{"init", "/ci/1/uart.c"}, {"init", "/ci/1/spi.c"}},
               {{"init", "/ci/2/spi.c"}, {"init", "/ci/2/uart.c"}}},
              {1, 0}},
             {"files of one name",
              {{{"init", "/a/uart/init.c"}, {"init", "/a/spi/init.c"}, {"init", "/a/init.c"}},
               {{"init", "/b/init.c"}, {"init", "/b/spi/init.c"}, {"init", "/b/uart/init.c"}}},
              {2, 1, 0}},
             {"a directory within one of its name",
              {{{"init", "/ci/lib/init.c"}, {"init", "/ci/lib/lib/init.c"}},
               {{"init", "/b/init.c"}, {"init", "/b/lib/init.c"}}},
              {0, 1}},
             {"other directories for other parts",
              {{{"f", "/a/fw/x.c"},
                {"f", "/a/sdk/x.c"},
                {"main", "/a/fw/m.c"},
                {"s", "/a/sdk/s.c"}},
               {{"f", "/opt/sdk-2/x.c"},
                {"f", "/b/x.c"},
                {"main", "/b/m.c"},
                {"s", "/opt/sdk-2/s.c"}}},
              {1, 0, 2, 3}},
             {"spelt otherwise",
              {{{"f", "/a/x.c"}, {"f", "/a/y.c"}, {"f", "/a/d/x.c"}},
               {{"f", "./x.c"}, {"f", "C:\\b\\y.c"}, {"f", "build/../d//x.c"}}},
              {0, 1, 2}},
             {"moved, and the only one", {{{"f", "/a/x.c"}}, {{"f", "/b/y.c"}}}, {0}},
             {"moved to another directory",
              {{{"f", "/a/x.c"}, {"f", "/a/y.c"}}, {{"f", "/b/lib/y.c"}, {"f", "/b/x.c"}}},
              {1, 0}},
             {"the last one that is left",
              {{{"f", "/a/x.c"}, {"f", "/a/y.c"}}, {{"f", "/b/x.c"}, {"f", "/b/z.c"}}},
              {0, 1}},
             {"others of the same name",
              {{{"f", "/a/x.c"}, {"f", "/a/y.c"}},
               {{"f", "/b/x.c"}, {"f", "/b/z.c"}, {"f", "/b/w.c"}}},
              {0, -1, -1}},
             {"without debug information", {{{"f", "/a/x.c"}}, {{"f", ""}}}, {0}},
             {"clones in one build only",
              {{{"f", "/a/x.c"}, {"f", "/a/y.c"}},
               {{"f.part.0", "/b/y.c"}, {"f.constprop.0", "/b/x.c"}, {"f", "/b/x.c"}}},
              {-2, -2, 0}},
             {"by an alias",
              {{{"sum", "/a/x.c"}, {"old", "/a/x.c"}},
               {{"sum_v2=sum", "/b/x.c"}, {"new=old", "/b/x.c"}, {"old", "/b/x.c"}}},
              {0, -1, 1}},
             {"three builds",
              {{{"f", "/a/x.c"}, {"f", "/a/y.c"}},
               {{"f", "/b/x.c"}, {"f", "/b/y.c"}, {"f", "/b/z.c"}},
               {{"f", "/c/y.c"}, {"f", "/c/x.c"}, {"f", "/c/z.c"}}},
              {1, 0, -1}},
             {"the same build", {{{"f", "/a/x.c"}, {"f", "/a/y.c"}}, {{"f", "/a/y.c"}}}, {1}},
         }) {
        Builds builds;
        for (const Build& build : of.builds) builds.add(symbols_of(build));
        const Build& first = of.builds.front();
        const Build& last = of.builds.back();
        for (std::size_t n = 0; n < last.size(); ++n) {
            const Builds::Id id =
                builds.id_of(last[n].first.substr(0, last[n].first.find('=')), last[n].second);
            const auto found = std::find(first.begin(), first.end(), id);
            const int same = found == first.end() ? -1 : static_cast<int>(found - first.begin());
            if (of.same[n] == -2) {  // a clone of what lies in that file
                EXPECT_EQ(id.first, last[n].first) << of.what;
                EXPECT_THAT(id.second, EndsWith(last[n].second.substr(3))) << of.what;
                EXPECT_THAT(id.second, StartsWith("/a/")) << of.what;
            } else {
                EXPECT_EQ(same, of.same[n]) << of.what << ": " << n;
            }
        }
    }
}

TEST(SameFunctions, TheTellingEndOfAPath) {
    for (const auto& [file, others, end] :
         {std::tuple{"/a/x/init.c", std::vector<std::string>{"/a/y/init.c"}, "x/init.c"},
          {"/a/x/init.c", {"/a/x/uart.c"}, "init.c"},
          {"/a/x/init.c", {"/a/y/init.c", "/b/x/init.c"}, "a/x/init.c"},
          {"init.c", {"x/init.c"}, "init.c"},
          {"x/init.c", {"init.c"}, "x/init.c"},
          {"", {"/a/x.c"}, ""}})
        EXPECT_EQ(telling_end(file, others), end);
}

}  // namespace nopscope::host::test::builds_test
