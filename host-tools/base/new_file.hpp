// SPDX-License-Identifier: Apache-2.0
// A file that is written for hours. It takes an older file's place only once it has something worth
// keeping.
//
// Until take_place() the bytes go to PATH.part. Then PATH is renamed to PATH.old, and PATH.part to
// PATH, so no byte of either is copied, and a process that is killed in between loses neither. A
// lock (flock) keeps other processes from writing the same file. The lock ends with the process,
// however that ends.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace nopscope::host {

class NewFile {
public:
    enum class Place : std::uint8_t {
        later,    // at take_place()
        at_once,  // no .part, no .old, no lock: for files that only their maker knows
    };
    // A PATH that is there and no regular file (a pipe, a device) is opened at once, whatever
    // `place` says. Throws Error: PATH cannot be written, or another process writes it.
    explicit NewFile(const std::string& path, Place place = Place::later);
    // Removes PATH.part if it has not taken its place.
    ~NewFile();
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    // Writes all of it. Throws Error.
    void write(std::span<const std::uint8_t> bytes);
    // Idempotent. An empty PATH is not kept as PATH.old. Throws Error: then the bytes stay in
    // PATH.part.
    void take_place();
    bool is_in_place() const { return in_place_; }
    const std::string& path() const { return path_; }

private:
    void open_part();
    void refuse_other_writer(int file) const;
    void refuse_other_writer() const;

    std::string path_;
    std::string part_;
    int file_ = -1;
    bool in_place_ = false;
    bool keeps_part_ = false;  // it could not take its place
};

// Throws Error if another process, or this one, writes the file by a NewFile.
void refuse_other_writer(const std::string& path);

// Where the file is kept that PATH was before, and where the new one begins.
std::string old_name(const std::string& path);
std::string part_name(const std::string& path);

}  // namespace nopscope::host
