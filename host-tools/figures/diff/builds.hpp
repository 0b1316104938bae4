// SPDX-License-Identifier: Apache-2.0
// Tells which functions of several builds are the same.
//
// A function is known by its name in the source. If a build has several of one name (static ones of
// two files), the part of the path decides that tells them from each other. Builds lie in different
// directories, so paths are compared from their ends: the pairs of directories that fit most
// functions (/ci/1/fw of one build, /ci/2/fw of the other) come first, then the longest common end.
// A function of which nothing but the name is left in two builds has moved to another file.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host-tools/image/symbols.hpp"

namespace nopscope::host {

class Builds {
public:
    using Id = std::pair<std::string, std::string>;  // name and file

    // Makes this build the current one. It may be one that was added before.
    void add(const Symbols& symbols);
    // The same for a function of the current build as for that function of each other build: its
    // name, or an alias that is its name in an earlier build, and its file in the first build that
    // has it. What is not known remains as it is.
    Id id_of(const std::string& name, const std::string& file) const;

private:
    using Files = std::vector<std::string>;
    std::map<std::string, Files> known_;  // by name in the source: the files in the first builds
    std::map<Id, Id> current_;            // of the current build
};

// The least part of the path that tells it from the others: "x/init.c". Empty: nothing does.
std::string telling_end(const std::string& file, const std::vector<std::string>& others);

}  // namespace nopscope::host
