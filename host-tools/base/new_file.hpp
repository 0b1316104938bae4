// SPDX-License-Identifier: Apache-2.0
// A file that may be written for hours. It replaces an older file only when it has useful contents.
//
// Until take_place(), the bytes go to PATH.part. Then PATH is renamed to PATH.old, and PATH.part to
// PATH. This copies no bytes, and a process that is killed in between loses neither file. A lock
// (flock) keeps other processes from writing the same file. It ends with the process.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "host-tools/base/file.hpp"

namespace nopscope::host {

class NewFile {
public:
    enum class Place : std::uint8_t {
        later,    // by take_place()
        at_once,  // without .part, .old and lock: for files that only their creator knows
    };
    // An existing PATH that is not a regular file (a pipe, a device) is opened at once, whatever
    // `place` is. Throws Error if PATH cannot be written, or another process writes it.
    explicit NewFile(const std::string& path, Place place = Place::later);
    // Removes PATH.part if it has not replaced PATH.
    ~NewFile();
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    // Writes all of it. Throws Error.
    void write(std::span<const std::uint8_t> bytes);
    // Idempotent. Does not keep an empty PATH as PATH.old. Throws Error; PATH.part then stays.
    void take_place();
    // Reads this file, which may have been renamed or removed since. Throws Error, also if it is a
    // pipe or a device.
    std::unique_ptr<FileParts> open_to_read() const;
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
    bool keeps_part_ = false;  // take_place() failed
};

// Throws Error if another process, or this one, writes the file with a NewFile.
void refuse_other_writer(const std::string& path);

// The names of the replaced file, and of the new file until take_place().
std::string old_name(const std::string& path);
std::string part_name(const std::string& path);

}  // namespace nopscope::host
